import AgentWire
import Logging

/// Clocks: what servers say of the time, and what is done when the wall clock moves beside the boot clock.
extension CredentialService {
  /// The time as the account's server has it, as far as known.
  func now(_ account: Account?) -> Moment {
    var now = time.now()
    now.behindSeconds = account?.server?.clock?.behindSeconds(at: now)
    return now
  }

  func now(_ name: String) -> Moment { now(accounts[name]) }

  /// The time as the server behind `route` has it, as far as known.
  func now(at route: ServerRoute) -> Moment {
    var now = time.now()
    now.behindSeconds = servers[route]?.clock?.behindSeconds(at: now)
    return now
  }

  // MARK: What a server tells

  /// An answer of a server said what time it is there. Where that is asked, the answer to the question alone counts: others
  /// may be of before, or of a tenant below a path.
  func noteClock(_ dateSeconds: Int64?, from route: ServerRoute, sent: Moment) {
    guard let dateSeconds else { return }
    // It may be the first to show that the clock has moved.
    askServersForTheTime()
    guard clocks[route] == nil, clocks.counts(sentAt: sent) else { return }
    let server = servers.server(route)
    let isFirst = server.clock == nil
    server.clock = ServerClock(dateSeconds: dateSeconds, sent: sent, received: time.now())
    guard isFirst else { return }
    // Tokens of an earlier boot are dated by it.
    for (name, account) in accounts where account.server === server && account.machine.hasTokenOfAnotherBoot(sent) {
      publish(name)
      // So is the end of a login without a refresh token.
      noteLife(of: account)
      reschedule(account)
    }
  }

  /// The server was asked. What its accounts had before is as much older as it says; `clock` nil: it has answered, and not said
  /// what time it is.
  private func age(_ route: ServerRoute, by clock: ServerClock?) {
    guard let noticed = clocks.noticed, let doubt = clocks.tell(route) else { return }
    let server = servers.server(route)
    let missed = MissedTime(clock: clock, former: server.clock, noticed: noticed)
    server.clock = clock
    if let seconds = missed.seconds {
      logger.notice("the machine stood still", metadata: ["seconds": "\(Int(seconds))", "server": "\(route.origin)"])
    }
    for account in doubt.names.compactMap({ accounts[$0] }) { event(account, .aged(missed, nextID())) }
    settle([route], doubt.names)
  }

  // MARK: When the wall clock moves

  /// The wall clock was set, or the machine stood still: each server is asked what time it is, and decides how old its
  /// tokens are. Until then nothing of its accounts is given or refreshed. Nothing happens where the wall clock has not
  /// moved.
  func askServersForTheTime() {
    let noticed = time.now()
    guard ready.hasWallMoved(at: noticed) else { return }
    logger.notice("the wall clock moved: servers are asked for the time")
    var names: [ServerRoute: [String]] = [:]
    for (name, account) in accounts { if let route = account.timedRoute { names[route, default: []].append(name) } }
    let round = clocks.begin(at: noticed, names)
    ready.awaitClocks(of: names.values.joined(), at: noticed)
    // What nobody asks for is not known any more.
    for server in servers.all where names[server.route] == nil { server.clock = nil }
    askNext()
    // What waits for a place is not sent before.
    for name in names.values.joined() { if let account = accounts[name], account.ticket != nil { applyWish(account) } }
    stopWaitingLater(for: round)
  }

  /// A lock begins anew where it fails, and a stop asks nobody.
  func stopWaitingLater(for round: Int) {
    Task {
      // Nobody cancels it; an account that waits for ever would be worse than one that waits too short.
      try? await self.time.sleep(seconds: Self.clockSeconds)
      if !self.isClosed { self.stopWaiting(for: round) }
    }
  }

  /// The lock has failed: what was asked before it is asked again.
  func goOnAsking() {
    stopWaitingLater(for: clocks.round)
    askNext()
  }

  /// The servers of this round, and of those before, are waited for no longer.
  private func stopWaiting(for round: Int) {
    let late = clocks.stopWaiting(for: round)
    settle(late, late.flatMap { clocks[$0]?.names ?? [] })
    askNext()
  }

  /// How long a server is waited for that does not tell the time, in seconds.
  static let clockSeconds = Double(ServerResolver.clockMilliseconds) / 1_000

  /// Whether nothing of the account is given or sent until its server has told the time.
  func awaitsClock(_ name: String) -> Bool { awaitedRoute(name) != nil }

  /// Waits until the server of `name` has told the time, or is not waited for any longer. Returns why nothing can be given at
  /// boot second `deadline`, or after a lock.
  func waitForTime(_ name: String, until deadline: Double) async -> AgentFailure? {
    askServersForTheTime()
    // Mostly once: the clock may move again meanwhile.
    while let route = awaitedRoute(name) {
      let left = deadline - time.now().bootSeconds
      // An agent that stops asks nobody: the next one does.
      guard left > 0, !isClosed else {
        return isLocked ? availability.lockedFailure : accounts[name]?.machine.closing ?? .clockIsAsked(name)
      }
      hurry(route, .caller(deadline: deadline))
      await wait(for: .clock(route), seconds: left)
      askServersForTheTime()
    }
    return isLocked ? availability.lockedFailure : nil
  }

  /// The same for what is to be sent to the server behind `route` beside token calls, and dated by its time.
  func waitForTime(at route: ServerRoute) async {
    askServersForTheTime()
    while clocks.isWaitedFor(route), !isClosed {
      hurry(route, .person)
      await wait(for: .clock(route), seconds: Self.clockSeconds)
    }
  }

  private func awaitedRoute(_ name: String) -> ServerRoute? {
    accounts[name]?.timedBinding == nil ? nil : clocks.awaited(by: name)
  }

  // MARK: Asking

  /// Those servers that nobody waits for are asked some at a time, behind everybody's requests.
  private func askNext() {
    while let route = clocks.next { ask(route, .plan(due: time.now().bootSeconds)) }
  }

  /// One question at a time: a server that does not answer is not asked again meanwhile, however often the clock moves.
  private func ask(_ route: ServerRoute, _ priority: RequestPriority) {
    clocks.ask(route, priority)
    let binding = clocks[route]?.names.lazy.compactMap { self.accounts[$0]?.timedBinding }
      .first { ServerRoute($0) == route }
    Task {
      var answer: ServerResolver.ClockAnswer?
      let place = await self.place(route.clocks, self.clocks.priority(route) ?? priority) { ticket in
        self.clocks.queue(route, ticket)
      }
      // Without a binding its accounts have gone to another server.
      if place != nil, let binding {
        answer = await ServerResolver(transport: self.checkedTransport).clock(binding, time: self.time)
      }
      if let place { self.giveBack(place) }
      self.told(answer, by: route, wasAsked: place != nil)
    }
  }

  /// Somebody waits for what `route` tells.
  private func hurry(_ route: ServerRoute, _ priority: RequestPriority) {
    if clocks.isUnasked(route) { return ask(route, priority) }
    if let ticket = clocks.hurry(route, priority) { places.hurry(ticket, to: priority) }
  }

  /// The question has ended. Without an answer the boot clock stays in charge, until the next one.
  private func told(_ answer: ServerResolver.ClockAnswer?, by route: ServerRoute, wasAsked: Bool) {
    if let answer, clocks.isCurrent(route) { age(route, by: answer.clock) }
    // A lock or a stop asks nobody, and gives nothing that is in doubt.
    if isClosed || !wasAsked {
      clocks.giveUp(route)
      return isClosed ? () : askNext()
    }
    switch clocks.end(route) {
    case .nothing, .due: break
    case .askLater(let seconds):
      settle([route], clocks[route]?.names ?? [])
      let round = clocks.round
      Task {
        // Nobody cancels it; asked too early would be better than never.
        try? await self.time.sleep(seconds: seconds)
        self.askAgain(route, of: round)
      }
    }
    askNext()
  }

  /// Nobody has to know any more once the tokens, ID tokens too, have ended by the boot clock alone.
  private func askAgain(_ route: ServerRoute, of round: Int) {
    guard !isClosed, clocks.round == round, let doubt = clocks[route] else { return }
    let mayBeOlder = doubt.names.contains { name in
      let (now, record) = (now(name), accounts[name]?.machine.record)
      let ends = (record?.tokens ?? []).map { $0.remaining(at: now) } + [record?.grant?.identity?.remaining(at: now)]
      return ends.contains { ($0 ?? 0) > 0 }
    }
    guard mayBeOlder else { return }
    clocks.askAgain(route)
    askNext()
  }

  /// Their tokens are as old as anybody knows. Those of an earlier boot are dated by the wall clock; and what was due is
  /// due now.
  private func settle(_ routes: [ServerRoute], _ names: [String]) {
    ready.clockIsTold(to: names)
    let names = names.filter { accounts[$0] != nil }
    for name in names { publish(name) }
    wakeSoon(names)
    for route in routes { waiters.happened(.clock(route)) }
  }
}

extension AgentFailure {
  /// Its server was asked for the time, and had not told it when the caller's patience ended.
  static func clockIsAsked(_ name: String) -> AgentFailure {
    AgentFailure(
      .unavailable, "\(name): this machine's clock has moved, and its server has not told the time yet",
      hint: "try again in a few seconds")
  }
}

extension CredentialService.Account {
  /// Names the server that tells how old its tokens are, or what time its requests are signed with; nil: it has none.
  fileprivate var timedBinding: DefinitionBinding? {
    guard let record = machine.record, let grant = record.grant,
      !record.tokens.isEmpty || record.intent != nil || grant.identity != nil || grant.datesRequests
    else { return nil }
    return grant.binding
  }

  /// Where that server is.
  fileprivate var timedRoute: ServerRoute? { timedBinding.map(ServerRoute.init) }
}
