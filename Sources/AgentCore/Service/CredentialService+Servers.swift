import HTTPTerms
import Logging
import OAuthProtocol
import Sealing

/// A server as accounts reach it: what fails for one of them fails for all with the same route.
struct ServerRoute: Hashable {
  let origin: String
  /// For people.
  let host: String
  let proxy: String?
  let authority: NamedAuthority?

  /// The one that `url` is at.
  init(_ url: String, _ route: HTTPRoute) {
    let origin = (try? WebURL(url))?.origin
    self.origin = origin?.description ?? url
    host = origin?.host ?? url
    proxy = route.proxy
    authority = route.authority
  }

  /// The one that gives the tokens.
  init(_ binding: DefinitionBinding) { self.init(binding.tokenEndpoint, binding.route) }

  /// The one that is told to revoke.
  init(_ revocation: RevocationRecord) {
    let binding = revocation.binding
    self.init(binding.revocationEndpoint ?? binding.tokenEndpoint, binding.route)
  }
}

/// What all accounts of a server share. A class: each of them refers to it, and nobody looks it up.
final class Server {
  let route: ServerRoute
  var circuit = ServerCircuit()
  /// As its last answer told it.
  var clock: ServerClock?
  /// Accounts that have found it unreachable: one of them is woken when it may be tried, all when it answers.
  var parked: Set<String> = []
  /// Of these the ones that somebody waits for: told of every try that failed.
  var askers: Set<String> = []
  /// Seconds that the last plan waited for its turn, while that is longer than its token lives; nil: it keeps up.
  var lag: Double?

  init(_ route: ServerRoute) { self.route = route }
}

/// What a request says about its server.
enum ServerNews {
  /// It answers, whatever it says.
  case answer
  /// It could not be reached, or no whole answer came.
  case failure(String)
}

extension CredentialService {
  func server(_ route: ServerRoute) -> Server {
    if let known = servers[route] { return known }
    let new = Server(route)
    servers[route] = new
    return new
  }

  /// What keeps `account` from sending to the server that its grant is of, and to the one of its next revocation.
  func takeHolds(_ account: Account) {
    let binding = account.machine.record?.grant?.binding
    if binding?.tokenEndpoint != account.tokenEndpoint || binding?.route != account.route {
      account.tokenEndpoint = binding?.tokenEndpoint
      account.route = binding?.route
      account.server = binding.map { server(ServerRoute($0)) }
    }
    account.machine.hold = account.server?.circuit.hold(for: account.name)
    // Nearly no account has any.
    let revocation = account.machine.record?.revocations.first
    account.revocationServer = revocation.map { server(ServerRoute($0)) }
    account.machine.revocationHold = account.revocationServer?.circuit.hold(for: account.name)
  }

  /// Lets an account that its server holds back be woken by the server, and by nothing else.
  func park(_ account: Account) {
    for server in [account.server, account.revocationServer].compactMap(\.self) {
      guard server.circuit.isOpen, server.circuit.probe != account.name else {
        server.parked.remove(account.name)
        server.askers.remove(account.name)
        continue
      }
      server.parked.insert(account.name)
      if account.machine.hasWaiters { server.askers.insert(account.name) } else { server.askers.remove(account.name) }
      if server.circuit.probe == nil, alarms[.server(server.route)] == nil {
        setAlarm(.server(server.route), at: server.circuit.plannedAt)
      }
    }
  }

  /// The time has come to try a server that could not be reached: one account whose turn it is asks for a place.
  func tryServer(_ route: ServerRoute) {
    guard let server = servers[route], server.circuit.isOpen, server.circuit.probe == nil else { return }
    // An account may have nothing to send by now; a few are looked at, and the others in the next turn.
    for name in server.askers.union(server.parked.prefix(Self.wakesInTurn)) {
      server.parked.remove(name)
      wake(name)
      if server.circuit.probe != nil || accounts[name]?.ticket != nil { return }
    }
    let next = server.circuit.plannedAt.map { max($0, time.now().bootSeconds + 1) }
    if !server.parked.isEmpty { setAlarm(.server(route), at: next) }
  }

  /// An account that was to try a server and has nothing under way there leaves it to the next.
  func noteProbes(_ account: Account) {
    let isCalling = account.isChecking || account.machine.isCalling
    if let server = account.server, server.circuit.probe == account.name, !isCalling,
      !(account.machine.isRevoking && account.revocationServer === server)
    {
      gaveUp(account, server)
    }
    if let server = account.revocationServer, server !== account.server, server.circuit.probe == account.name,
      !account.machine.isRevoking
    {
      gaveUp(account, server)
    }
  }

  private func gaveUp(_ account: Account, _ server: Server) {
    server.circuit.gaveUp(account.name)
    if server.circuit.isOpen { setAlarm(.server(server.route), at: server.circuit.plannedAt) }
  }

  /// A token call of `name` has ended.
  func noteEnd(_ end: TokenCallEnd, of call: TokenCall, for name: String) {
    let route = ServerRoute(call.binding)
    switch end {
    case .notTried, .notInstalled: break
    case .answered(let answer):
      noteClock(answer.dateSeconds, from: route, sent: call.started)
      note(.answer, of: route, for: name)
    case .notSent(let reason), .sentNoAnswer(let reason): note(.failure(reason), of: route, for: name)
    }
  }

  /// Notes what a request of `name` says of its server. Only accounts that have asked in vain are told.
  func note(_ news: ServerNews, of route: ServerRoute, for name: String) {
    guard let server = servers[route] ?? newsworthy(news, route) else { return }
    let wasOpen = server.circuit.isOpen
    switch news {
    case .answer: server.circuit.didAnswer()
    case .failure(let reason):
      server.circuit.didFail(name, reason, at: time.now().bootSeconds, spread: random.fraction())
    }
    let isOpen = server.circuit.isOpen
    if wasOpen != isOpen {
      logger.notice(
        isOpen ? "a server cannot be reached: one account at a time tries" : "the server answers again",
        metadata: ["server": "\(route.origin)"])
    }
    if isOpen {
      if !wasOpen { leaveQueue(of: server) }
      guard server.circuit.probe == nil else { return }
      setAlarm(.server(route), at: server.parked.isEmpty ? nil : server.circuit.plannedAt)
      wakeSoon(server.askers.subtracting([name]))
    } else if wasOpen {
      setAlarm(.server(route), at: nil)
      let held = server.parked.union(server.askers)
      server.parked = []
      server.askers = []
      for name in held { accounts[name]?.machine.serverAnswered() }
      wakeSoon(held)
    }
  }

  /// Of a server that nothing is known of, only failures are worth keeping.
  private func newsworthy(_ news: ServerNews, _ route: ServerRoute) -> Server? {
    if case .failure = news { server(route) } else { nil }
  }

  /// Whoever waits for a place at a server that has turned out to be dead is told; nothing of it was written or sent.
  private func leaveQueue(of server: Server) {
    var names: [String] = []
    // People's requests stay: they are sent whatever is known.
    for case (let ticket, .account(let name)) in applicants where accounts[name]?.ticketRoute == server.route {
      requests.withdraw(ticket)
      applicants[ticket] = nil
      accounts[name]?.ticket = nil
      names.append(name)
    }
    wakeSoon(names)
  }

  /// What is wrong beyond accounts, one sentence each.
  package var conditions: [String] {
    let now = time.now()
    let dead = servers.values.compactMap { server in
      server.circuit.reason.map { "\(server.route.origin) cannot be reached (\($0)); one account at a time tries" }
    }
    let late = servers.values.compactMap { server in
      server.lag.map {
        "\(server.route.origin): refreshes take longer than tokens live (they wait \(Int($0)) s for their turn)"
      }
    }
    return dead.sorted() + late.sorted() + clockRemarks(at: now)
  }

  /// Of servers that some account has, and not of those whose accounts are gone.
  private func clockRemarks(at now: Moment) -> [String] {
    let remarks = servers.values.compactMap { server in
      server.clock?.remark(host: server.route.host, at: now).map { (host: server.route.host, text: $0) }
    }
    guard !remarks.isEmpty else { return [] }
    var hosts = hostsOfDefinitions()
    for account in accounts.values where account.machine.definition != nil {
      if let server = account.server { hosts.insert(server.route.host) }
    }
    return Set(remarks.filter { hosts.contains($0.host) }.map(\.text)).sorted()
  }

  /// With thousands of accounts their addresses take longer to read than a status may.
  private func hostsOfDefinitions() -> Set<String> {
    if let definedHosts { return definedHosts }
    let hosts = Set(accounts.values.lazy.compactMap { $0.machine.definition?.serverHosts }.joined())
    definedHosts = hosts
    return hosts
  }
}
