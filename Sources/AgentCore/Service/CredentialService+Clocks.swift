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

  /// An answer of a server said what time it is there.
  func noteClock(_ dateSeconds: Int64?, from route: ServerRoute, sent: Moment) {
    guard let dateSeconds else { return }
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

  /// The wall clock was set, or the machine stood still: each server is asked what time it is, and decides how old its tokens are.
  /// Until then nothing of its accounts is given or refreshed. Nothing happens where the wall clock has not moved.
  func askServersForTheTime() {
    let noticed = time.now()
    guard ready.hasWallMoved(at: noticed) else { return }
    logger.notice("the wall clock moved: servers are asked for the time")
    var names: [ServerRoute: [String]] = [:]
    var bindings: [ServerRoute: DefinitionBinding] = [:]
    for (name, account) in accounts {
      guard let route = account.timedRoute else { continue }
      names[route, default: []].append(name)
      bindings[route] = account.machine.record?.grant?.binding
    }
    let round = waiters.beginClockRound(at: noticed)
    ready.awaitClocks(of: names.values.joined(), at: noticed, round: round.number)
    for (route, binding) in bindings { ask(route, binding, round) }
    // What waits for a place is not sent before.
    for name in names.values.joined() { if let account = accounts[name], account.ticket != nil { applyWish(account) } }
    Task {
      try? await self.time.sleep(seconds: Self.clockSeconds)
      // Also one whose login has ended meanwhile. Who was asked again since has a time of its own.
      self.settle(self.ready.awaitingClocks(since: round.number))
    }
  }

  /// Whether nothing of the account is given or sent until its server has told the time.
  func awaitsClock(_ name: String) -> Bool { ready.awaitsClock(name) && accounts[name]?.timedRoute != nil }

  /// How long a server is waited for that does not tell the time, in seconds.
  static let clockSeconds = 5.0

  /// One question at a time: a server that does not answer is not asked again meanwhile, however often the clock moves.
  private func ask(_ route: ServerRoute, _ binding: DefinitionBinding, _ round: ServiceWaiters.ClockRound) {
    guard waiters.clockQuestions.insert(route).inserted else { return }
    Task {
      let resolver = ServerResolver(transport: ObservedTransport(service: self, account: nil, isClock: true))
      self.told(await resolver.clock(binding, time: self.time), by: route, round)
    }
  }

  /// A server was asked for the time. `clock` nil: it has not told, and the boot clock stays in charge.
  private func told(_ clock: ServerClock?, by route: ServerRoute, _ round: ServiceWaiters.ClockRound) {
    waiters.clockQuestions.remove(route)
    var names = accounts.filter { $0.value.timedRoute == route }.map(\.key)
    if let clock {
      let server = servers.server(route)
      let missed = MissedTime(clock: clock, former: server.clock, noticed: round.noticed)
      server.clock = clock
      if let seconds = missed.seconds {
        logger.notice("the machine stood still", metadata: ["seconds": "\(Int(seconds))", "server": "\(route.origin)"])
      }
      for name in names { if let account = accounts[name] { event(account, .aged(missed, nextID())) } }
    }
    // The clock has moved again since it was asked.
    if waiters.clockRound.number > round.number,
      let late = names.first(where: { ready.awaitsClock($0, after: round.number) }),
      let binding = accounts[late]?.machine.record?.grant?.binding
    {
      ask(route, binding, waiters.clockRound)
      names.removeAll { ready.awaitsClock($0, after: round.number) }
    }
    settle(names)
  }

  /// Their tokens are as old as anybody knows. Those of an earlier boot are dated by the wall clock; and what was due is due now.
  private func settle(_ names: [String]) {
    let waiting = names.filter { ready.awaitsClock($0) }
    ready.clockIsTold(to: waiting)
    for name in names where accounts[name] != nil { publish(name) }
    wakeSoon(names.filter { accounts[$0] != nil })
    for name in waiting { waiters.happened(.clock(name)) }
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
  /// The server that tells how old its tokens are; nil: it has none.
  fileprivate var timedRoute: ServerRoute? {
    guard let record = machine.record, !record.tokens.isEmpty || record.intent != nil,
      let binding = record.grant?.binding
    else { return nil }
    return ServerRoute(binding)
  }
}
