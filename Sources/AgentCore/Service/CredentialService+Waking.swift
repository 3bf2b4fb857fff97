/// When accounts and servers are looked at by plan. Each has its moment, and one sleep serves them all: a sleeping task
/// each would take more memory than the rest of an account.
extension CredentialService {
  /// What is to be done at a moment.
  enum Alarm: Hashable {
    case account(String)
    /// A server that could not be reached may be tried.
    case server(ServerRoute)
    /// A request has waited for its server for a while.
    case patience(Ticket)
  }

  /// The sleep until the first alarm.
  struct Sleep {
    /// Boot seconds.
    let until: Double
    let task: Task<Void, Never>?

    /// Woken as we are: nothing comes before it.
    static let over = Sleep(until: -.infinity, task: nil)
  }

  /// A sleep may end so many seconds before its time: rounding must not become a loop.
  private static let timerTolerance = 0.001
  /// Accounts that are woken in one turn of the actor, so that callers are served in between: some milliseconds.
  static let wakesInTurn = 64

  /// Sets an account's next wake.
  func reschedule(_ account: Account) {
    // Its state may depend on what others found out about its server.
    defer { tell(account.name) }
    takeHolds(account)
    let now = now(account)
    let wakes = isClosed ? [] : [account.machine.wake(at: now), toldEnd(account.name, at: now)]
    setAlarm(.account(account.name), at: wakes.compactMap(\.self).min())
    park(account)
  }

  /// `moment` in boot seconds; nil: there is nothing to do.
  func setAlarm(_ alarm: Alarm, at moment: Double?) {
    let previous = alarms[alarm]
    alarms[alarm] = moment
    if let moment, moment < sleep?.until ?? .infinity {
      sleep(until: moment)
    } else if let previous, previous == sleep?.until, previous != moment {
      sleep(until: alarms.first())
    }
  }

  private func sleep(until moment: Double?) {
    sleep?.task?.cancel()
    sleep = moment.map { moment in
      let seconds = max(0, moment - time.now().bootSeconds)
      let task = Task {
        do { try await self.time.sleep(seconds: seconds) } catch { return }
        // Cancelled after its end: another one has been set.
        if !Task.isCancelled { self.callWhoIsDue() }
      }
      return Sleep(until: moment, task: task)
    }
  }

  private func callWhoIsDue() {
    // Whatever they set: the next sleep begins when all are done.
    sleep = .over
    var accounts: [String] = []
    for alarm in alarms.takeDue(at: time.now().bootSeconds + Self.timerTolerance) {
      switch alarm {
      case .account(let name): accounts.append(name)
      case .server(let route): tryServer(route)
      case .patience(let ticket): giveWay(ticket)
      }
    }
    wakeSoon(accounts)
    sleep(until: alarms.first())
  }

  /// Wakes accounts, some in each turn of the actor.
  func wakeSoon(_ names: some Sequence<String>) {
    waking.append(contentsOf: names)
    guard !isWaking, !waking.isEmpty else { return }
    isWaking = true
    // The first are woken at once: mostly there is one.
    wakeSome()
    guard isWaking else { return }
    Task {
      while self.isWaking {
        await Task.yield()
        self.wakeSome()
      }
    }
  }

  private func wakeSome() {
    let turn = waking.prefix(Self.wakesInTurn)
    waking.removeFirst(turn.count)
    for name in turn { wake(name) }
    if waking.isEmpty { isWaking = false }
  }

  func wake(_ name: String) {
    guard !isClosed, let account = accounts[name] else { return }
    // What is due is decided when the clocks are, and everybody is woken then.
    if ready.hasWallMoved(at: time.now()) { return askServersForTheTime() }
    let asked = ready.asked(name)
    event(account) { machine, now in
      machine.woke(at: now.advanced(by: Self.timerTolerance), asked: asked, random: self.random.fraction())
    }
  }
}
