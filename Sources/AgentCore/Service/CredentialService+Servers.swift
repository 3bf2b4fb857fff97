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
}

/// What all accounts of a server share.
struct ServerState {
  var circuit = ServerCircuit()
  /// As its last answer told it.
  var clock: ServerClock?
}

extension CredentialService {
  /// What keeps `name` from sending to the server that its grant is of.
  func hold(_ name: String) -> ServerHold? { route(name).flatMap { servers[$0]?.circuit.hold(for: name) } }

  func route(_ name: String) -> ServerRoute? {
    // Most of the time no server is in trouble, and nothing has to be parsed for knowing it.
    servers.isEmpty ? nil : accounts[name]?.machine.record?.grant.map { ServerRoute($0.binding) }
  }

  /// Notes whether `name` asks its server now. Returns the server it was the one to ask, and no longer is.
  func noteProbe(_ name: String) -> ServerRoute? {
    if accounts[name]?.machine.isCalling == true {
      if let route = route(name) { servers[route]?.circuit.began(name) }
      return nil
    }
    let left = servers.first { $0.value.circuit.probe == name }?.key
    if let left { servers[left]?.circuit.gaveUp(name) }
    return left
  }

  /// A request of `name` has ended.
  func heard(_ end: TokenCallEnd, to call: TokenCall, for name: String) {
    let route = ServerRoute(call.binding)
    if case .answered(let answer) = end { heard(answer.dateSeconds, from: route, sent: call.started) }
    let wasOpen = servers[route]?.circuit.isOpen ?? false
    switch end {
    case .notTried: return
    case .answered: servers[route]?.circuit.didAnswer()
    case .notSent(let reason), .sentNoAnswer(let reason):
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
    serverChanged(route, but: name)
  }

  /// Lets the other accounts of a server act on what is known of it now.
  func serverChanged(_ route: ServerRoute, but name: String) {
    for (other, account) in accounts where other != name {
      guard let grant = account.machine.record?.grant, ServerRoute(grant.binding) == route else { continue }
      wake(other)
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
