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

  /// Waits until the servers have been asked for the time, `seconds` at most.
  func clocksSettled(seconds: Double) async {
    askServersForTheTime()
    await wait(for: .clocks, seconds: seconds)
  }

  func askServersForTheTime() {
    if waiters.clockCheck == nil { waiters.clockCheck = Task { await self.settleClocks() } }
  }

  /// The wall clock was set, or the machine stood still: each server is asked once, before anything is refreshed, and
  /// what it says decides how old its tokens are.
  private func settleClocks() async {
    let noticed = time.now()
    logger.notice("the wall clock moved: servers are asked for the time")
    var bindings: [ServerRoute: DefinitionBinding] = [:]
    for account in accounts.values {
      guard let record = account.machine.record, !record.tokens.isEmpty, let binding = record.grant?.binding else {
        continue
      }
      bindings[ServerRoute(binding)] = binding
    }
    let clocks = await ServerResolver(transport: ObservedTransport(service: self, account: nil))
      .clocks(bindings, time: time)
    for (route, clock) in clocks {
      let server = servers.server(route)
      let pause = server.clock.map { clock.pauseSeconds(since: $0) } ?? 0
      server.clock = clock
      guard pause > ClockStepDetector.stepSeconds else { continue }
      logger.notice("the machine stood still", metadata: ["seconds": "\(Int(pause))", "server": "\(route.origin)"])
      for account in accounts.values where account.server === server {
        event(account, .aged(seconds: pause, before: noticed, nextID()))
      }
    }
    waiters.clockCheck = nil
    ready.trustWall(at: time.now())
    // Tokens of an earlier boot are dated by the wall clock; and what was due meanwhile is due now.
    for name in accounts.keys { publish(name) }
    wakeSoon(accounts.keys)
    waiters.happened(.clocks)
  }
}
