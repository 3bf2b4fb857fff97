import Logging
import OAuthProtocol

/// A server as accounts reach it: what fails for one of them fails for all with the same route.
struct ServerRoute: Hashable {
  let origin: String
  /// For people.
  let host: String
  let proxy: String?
  let certificateAuthorityFile: String?

  /// The one that `url` is at.
  init(_ url: String, _ route: HTTPRoute) {
    let origin = (try? WebURL(url))?.origin
    self.origin = origin?.description ?? url
    host = origin?.host ?? url
    proxy = route.proxy
    certificateAuthorityFile = route.certificateAuthorityFile
  }

  /// The one that gives the tokens.
  init(_ binding: DefinitionBinding) { self.init(binding.tokenEndpoint, binding.route) }

  /// The one that is told to revoke.
  init(_ revocation: RevocationRecord) {
    let binding = revocation.binding
    self.init(binding.revocationEndpoint ?? binding.tokenEndpoint, binding.route)
  }
}

/// What all accounts of a server share.
struct ServerState {
  var circuit = ServerCircuit()
  /// As its last answer told it.
  var clock: ServerClock?
}

/// What a request says about its server.
enum ServerNews {
  /// It answers, whatever it says.
  case answer
  /// It could not be reached, or no whole answer came.
  case failure(String)
}

extension CredentialService {
  /// What keeps `name` from sending to the server that its grant is of, and to the one of its next revocation.
  func takeHolds(_ name: String) {
    let hold = route(name).flatMap { servers[$0]?.circuit.hold(for: name) }
    let revocationHold = revocationRoute(name).flatMap { servers[$0]?.circuit.hold(for: name) }
    accounts[name]?.machine.hold = hold
    accounts[name]?.machine.revocationHold = revocationHold
  }

  func route(_ name: String) -> ServerRoute? {
    // Most of the time no server is in trouble, and nothing has to be parsed for knowing it.
    servers.isEmpty ? nil : accounts[name]?.machine.record?.grant.map { ServerRoute($0.binding) }
  }

  private func revocationRoute(_ name: String) -> ServerRoute? {
    servers.isEmpty ? nil : accounts[name]?.machine.record?.revocations.first.map { ServerRoute($0) }
  }

  /// Notes which servers `name` asks now. Returns those that it was the one to ask, and no longer is.
  func noteProbes(_ name: String) -> [ServerRoute] {
    var asked: [ServerRoute?] = []
    if accounts[name]?.machine.isCalling == true { asked.append(route(name)) }
    if accounts[name]?.machine.isRevoking == true { asked.append(revocationRoute(name)) }
    for route in asked.compactMap(\.self) { servers[route]?.circuit.began(name) }
    let left = servers.filter { $0.value.circuit.probe == name && !asked.contains($0.key) }.map(\.key)
    for route in left { servers[route]?.circuit.gaveUp(name) }
    return left
  }

  /// A token call of `name` has ended.
  func heard(_ end: TokenCallEnd, to call: TokenCall, for name: String) {
    let route = ServerRoute(call.binding)
    switch end {
    case .notTried: break
    case .answered(let answer):
      heard(answer.dateSeconds, from: route, sent: call.started)
      note(.answer, of: route, for: name)
    case .notSent(let reason), .sentNoAnswer(let reason): note(.failure(reason), of: route, for: name)
    }
  }

  /// Lets every account of a server act on what a request of `name` says of it.
  func note(_ news: ServerNews, of route: ServerRoute, for name: String) {
    let wasOpen = servers[route]?.circuit.isOpen ?? false
    switch news {
    case .answer: servers[route]?.circuit.didAnswer()
    case .failure(let reason):
      servers[route, default: ServerState()].circuit.didFail(
        name, reason, at: time.now().bootSeconds, spread: random.fraction())
    }
    let isOpen = servers[route]?.circuit.isOpen ?? false
    guard wasOpen || isOpen else { return }
    if wasOpen != isOpen {
      logger.notice(
        isOpen ? "a server cannot be reached: one account at a time tries" : "the server answers again",
        metadata: ["server": "\(route.origin)"])
    }
    // Its own failure is told to it by whoever sent the request.
    serverChanged(route, but: isOpen ? name : nil)
  }

  /// Lets the accounts of a server act on what is known of it now.
  func serverChanged(_ route: ServerRoute, but name: String?) {
    for other in accounts.keys where other != name {
      if self.route(other) == route || revocationRoute(other) == route { wake(other) }
    }
  }

  /// What is wrong beyond accounts, one sentence each.
  package var conditions: [String] {
    let now = time.now()
    let dead = servers.compactMap { route, state in
      state.circuit.reason.map { "\(route.origin) cannot be reached (\($0)); one account at a time tries" }
    }
    let clocks = servers.compactMap { route, state in state.clock?.remark(host: route.host, at: now) }
    return dead.sorted() + Set(clocks).sorted()
  }
}
