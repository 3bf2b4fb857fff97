/// When accounts are looked at by plan. Each has its moment, and one sleep serves them all: a sleeping task each would take
/// more memory than the rest of an account.
extension CredentialService {
  /// The sleep until the first account wakes.
  struct Sleep {
    /// Boot seconds.
    let until: Double
    let task: Task<Void, Never>?

    /// Woken as we are: nothing comes before it.
    static let over = Sleep(until: -.infinity, task: nil)
  }

  /// A sleep may end so many seconds before its time: rounding must not become a loop.
  private static let hair = 0.001

  /// Sets an account's next wake.
  func reschedule(_ name: String) {
    // Its state may depend on what others found out about its server.
    defer { tell(name) }
    takeHolds(name)
    guard let account = accounts[name] else { return }
    let now = now(name)
    let wakes = isDraining || isLocked ? [] : [account.machine.wake(at: now), toldEnd(name, at: now)]
    setWake(account, at: wakes.compactMap(\.self).min())
  }

  /// `wake` in boot seconds; nil for an account with nothing to do by plan.
  func setWake(_ account: Account, at wake: Double?) {
    let previous = account.wake
    account.wake = wake
    if let wake, wake < sleep?.until ?? .infinity {
      sleep(until: wake)
    } else if let previous, previous == sleep?.until, previous != wake {
      sleepUntilTheFirst()
    }
  }

  private func sleepUntilTheFirst() { sleep(until: accounts.values.lazy.compactMap(\.wake).min()) }

  private func sleep(until wake: Double?) {
    sleep?.task?.cancel()
    sleep = wake.map { wake in
      let seconds = max(0, wake - time.now().bootSeconds)
      let task = Task {
        do { try await self.time.sleep(seconds: seconds) } catch { return }
        // Cancelled after its end: another one has been set.
        if !Task.isCancelled { self.wakeWhoIsDue() }
      }
      return Sleep(until: wake, task: task)
    }
  }

  private func wakeWhoIsDue() {
    // Whatever they set: the next sleep begins when all are done.
    sleep = .over
    let now = time.now().bootSeconds + Self.hair
    let due = accounts.compactMap { name, account in account.wake.flatMap { $0 <= now ? (wake: $0, name: name) : nil } }
    for (_, name) in due.sorted(by: <) {
      accounts[name]?.wake = nil
      wake(name)
    }
    sleepUntilTheFirst()
  }

  func wake(_ name: String) {
    guard !isDraining, !isLocked else { return }
    // What is due is decided when the clocks are, and everybody is woken then.
    if ready.hasWallMoved(at: time.now()) { return askServersForTheTime() }
    let now = now(name).advanced(by: Self.hair)
    event(name) { $0.woke(at: now, asked: ready.asked(name), random: random.fraction()) }
  }
}
