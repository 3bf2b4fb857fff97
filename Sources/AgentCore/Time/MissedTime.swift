/// What a server's clock says, asked after the wall clock has moved beside the boot clock: how much older what was received
/// before is than the boot clock knows, since the machine stood still.
package struct MissedTime: Sendable {
  /// What the server has just said, nil: it has answered and said nothing; and what it had said last, nil: nothing in this
  /// boot.
  private let clock: ServerClock?
  private let former: ServerClock?
  private let noticed: Moment

  /// `noticed` is the moment at which the wall clock had moved.
  package init(clock: ServerClock?, former: ServerClock?, noticed: Moment) {
    self.clock = clock
    self.former = former
    self.noticed = noticed
  }

  /// `moment` with the time on the boot clock that was missed since then. What came later, or in another boot, is as it was.
  /// `least`: what something else is known to have missed, for a moment that has not the server's clock.
  package func aged(_ moment: Moment, least: Double = 0) -> Moment {
    guard isBefore(moment) else { return moment }
    // Where nobody knows, the wall clock's word counts: what is too old costs a refresh, what is too young more.
    let missed = clock?.pauseSeconds(since: moment) ?? max(least, longest(since: moment))
    var next = moment
    if missed > ClockStepDetector.stepSeconds { next.bootSeconds -= missed }
    return next
  }

  /// The same, by the wall clock as it is now.
  package func applied(to moment: Moment) -> Moment {
    var next = aged(moment)
    guard isBefore(moment), ClockStepDetector(at: noticed).hasMoved(at: next) else { return next }
    next.wallSeconds = next.bootSeconds + noticed.wallSeconds - noticed.bootSeconds
    // At the server it was what it was.
    if let behind = moment.behindSeconds { next.behindSeconds = moment.wallSeconds + behind - next.wallSeconds }
    return next
  }

  /// The longest time that was certainly missed since the server's last answer; nil: none that counts.
  package var seconds: Double? {
    told.flatMap { $0 > ClockStepDetector.stepSeconds ? $0 : nil }
  }

  /// What the server says that was missed between its two answers.
  private var told: Double? {
    guard let clock, let former else { return nil }
    return clock.pauseSeconds(since: former)
  }

  /// What may have been missed since a moment that has not the server's clock.
  private func longest(since moment: Moment) -> Double {
    guard let told, let former else { return wallStep(since: moment) }
    // It says nothing of what was missed before it was heard.
    return former.isLater(than: moment) ? max(told, wallStep(since: moment)) : told
  }

  private func isBefore(_ moment: Moment) -> Bool {
    moment.bootID == noticed.bootID && moment.bootSeconds <= noticed.bootSeconds
  }

  private func wallStep(since moment: Moment) -> Double {
    max(0, noticed.wallSeconds - noticed.bootSeconds - moment.wallSeconds + moment.bootSeconds)
  }
}
