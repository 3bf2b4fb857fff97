package import AgentWire
import Logging
import OAuthProtocol

/// Which servers accounts may ask, and who is told when that changes.
extension CredentialService {
  /// What keeps `account` from sending to the server that its grant is of, and to those of its next revocations; and
  /// whether its tokens are still those that were agreed to.
  func takeHolds(_ account: Account) {
    let binding = account.machine.record?.grant?.binding
    if binding?.tokenEndpoint != account.tokenEndpoint || binding?.route != account.route {
      account.tokenEndpoint = binding?.tokenEndpoint
      account.route = binding?.route
      account.server = binding.map { servers.server(ServerRoute($0)) }
    }
    // Nearly no account has any.
    let logins = loginsToSpare(beside: account)
    account.isSparingLogins = !logins.isEmpty
    let revocations = account.machine.record?.nextRevocations(beside: logins, at: now(account)) ?? []
    account.revocationServers = Dictionary(
      uniqueKeysWithValues: revocations.map { (RevocationQueue.Lane($0), servers.server(ServerRoute($0))) })
    account.handle(
      .held(
        account.borrowing?.hold(at: time.now().bootSeconds) ?? account.server?.circuit.hold(for: account.name),
        revocations: account.revocationServers.compactMapValues { $0.circuit.hold(for: account.name) },
        beside: logins, lender: lenderFault(account), order: numbers.nextID()),
      at: time.now())
  }

  /// Lets an account that its server holds back be woken by the server, and by nothing else.
  func park(_ account: Account) {
    for server in [account.server].compactMap(\.self) + account.revocationServers.values {
      guard server.park(account.name, isAsked: account.machine.hasWaiters) else { continue }
      if server.circuit.probe == nil, plan[.server(server.route)] == nil {
        setAlarm(.server(server.route), at: server.circuit.plannedAt)
      }
    }
  }

  /// The time has come to try a server that could not be reached: one account whose turn it is asks for a place.
  func tryServer(_ route: ServerRoute) {
    guard let server = servers[route], server.circuit.isOpen, server.circuit.probe == nil else { return }
    // An account may have nothing to send by now; a few are looked at, and the others in the next turn.
    for name in server.candidates(most: WakePlan.wakesInTurn) {
      server.unpark(name)
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
      account.revokingServer !== server
    {
      gaveUp(account, server)
    }
    for server in account.revocationServers.values
    where server !== account.server && server.circuit.probe == account.name && account.revokingServer !== server {
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
    case .notTried, .notInstalled, .noAuthority, .noCertificate: break
    case .answered(let answer), .unproven(let answer, _):
      noteClock(answer.serverDateSeconds, from: route, sent: call.started)
      note(.answer, of: route, for: name)
    case .notSent(let reason), .sentNoAnswer(let reason): note(.failure(reason), of: route, for: name)
    }
  }

  /// Notes what a request of `name` says of its server. Only accounts that asked and got no answer are told.
  func note(_ news: ServerNews, of route: ServerRoute, for name: String) {
    let now = time.now().bootSeconds
    switch servers.note(news, of: route, for: name, at: now, spread: random.fraction()) {
    case .nothing: break
    case .isDead(let server):
      logger.notice(
        "a server cannot be reached: one account at a time tries", metadata: ["server": "\(route.origin)"])
      leaveQueue(of: server)
      tellAskers(of: server, but: name)
    case .staysDead(let server): tellAskers(of: server, but: name)
    case .isBack(let server):
      logger.notice("the server answers again", metadata: ["server": "\(route.origin)"])
      setAlarm(.server(route), at: nil)
      let held = server.release()
      for name in held { accounts[name]?.handle(.serverAnswered, at: time.now()) }
      wakeSoon(held)
    }
  }

  /// A try has failed: the next is planned, and whoever somebody waits for is told.
  private func tellAskers(of server: Server, but name: String) {
    guard server.circuit.probe == nil else { return }
    setAlarm(.server(server.route), at: server.parked.isEmpty ? nil : server.circuit.plannedAt)
    wakeSoon(server.askers.subtracting([name]))
  }

  /// Whoever waits for a place at a server that has turned out to be dead is told; nothing of it was written or sent.
  private func leaveQueue(of server: Server) {
    let names = places.withdrawAccounts(at: server.route)
    for name in names { accounts[name]?.ticket = nil }
    wakeSoon(names)
  }

  /// What is wrong beyond accounts.
  package var conditions: [AgentCondition] {
    servers.conditions.map { AgentCondition(.server, $0) }
      + clockRemarks(at: time.now()).map {
        AgentCondition(.clock, $0, hint: "set the clock right (under systemd: timedatectl set-ntp true)")
      }
  }

  /// Of servers that some account has, and not of those whose accounts are gone.
  private func clockRemarks(at now: Moment) -> [String] {
    let remarks = servers.clockRemarks(at: now)
    guard !remarks.isEmpty else { return [] }
    var hosts = hostsOfDefinitions()
    for account in accounts.values where account.machine.definition != nil {
      if let server = account.server { hosts.insert(server.route.host) }
    }
    return Set(remarks.filter { hosts.contains($0.host) }.map(\.text)).sorted()
  }

  /// With thousands of accounts their addresses take longer to read than a status may.
  private func hostsOfDefinitions() -> Set<String> {
    if let known = files.hosts { return known }
    let hosts = Set(accounts.values.lazy.compactMap { $0.machine.definition?.serverHosts }.joined())
    files.hosts = hosts
    return hosts
  }
}
