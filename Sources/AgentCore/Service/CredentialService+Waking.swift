extension CredentialService {
  /// Sets an account's next wake.
  func reschedule(_ account: Account) {
    // Its state may depend on what others found out about its server.
    defer { tell(account.name) }
    takeHolds(account)
    let now = now(account)
    let wakes =
      isClosed
      ? []
      : [
        account.machine.wake(at: now), account.loginEnd(at: now), toldEnd(account.name, at: now),
        account.borrowing?.failure == nil ? nil : account.borrowing?.plannedAt(at: now.bootSeconds),
      ]
    setAlarm(.account(account.name), at: wakes.compactMap(\.self).min())
    park(account)
  }

  /// `moment` in boot seconds; nil: there is nothing to do.
  func setAlarm(_ alarm: WakePlan.Alarm, at moment: Double?) {
    if plan.set(alarm, at: moment) { sleep() }
  }

  private func sleep() {
    let moment = plan.beginSleep()
    plan.sleep.replace(until: moment, by: time, on: self) { $0.callWhoIsDue() }
  }

  private func callWhoIsDue() {
    var accounts: [String] = []
    for alarm in plan.takeDue(at: time.now().bootSeconds + SharedSleep.toleranceSeconds) {
      switch alarm {
      case .account(let name): accounts.append(name)
      case .server(let route): tryServer(route)
      case .patience(let ticket): giveWay(ticket)
      }
    }
    wakeSoon(accounts)
    sleep()
  }

  /// Wakes accounts, some in each turn of the actor.
  func wakeSoon(_ names: some Sequence<String>) {
    guard plan.queue(names) else { return }
    // The first are woken at once: mostly there is one.
    wakeSome()
    guard plan.isWaking else { return }
    Task {
      while self.plan.isWaking {
        await Task.yield()
        self.wakeSome()
      }
    }
  }

  private func wakeSome() {
    for name in plan.takeTurn() { wake(name) }
    plan.endTurn()
  }

  func wake(_ name: String) {
    guard !isClosed, let account = accounts[name] else { return }
    askServersForTheTime()
    // Nothing is due before its server has told the time. Then it is woken.
    if awaitsClock(name) { return }
    event(account, .woke(asked: ready.asked(name)), ahead: SharedSleep.toleranceSeconds)
  }
}
