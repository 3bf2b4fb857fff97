/// How long is waited for a server, as a value: the time in which the one who waits did not run is not the server's.
///
/// A process that was stopped, and a machine that slept, find all their deadlines passed when they go on, while the
/// answer may lie there, unread. So whoever waits looks up every second at least, and tells the patience. Between two
/// looks much more time than was meant: that is an interruption. What it took is not counted, and ``Rules/restMilliseconds``
/// are left at least, since networks need a moment to come back too. ``interruptions`` of them are forgiven in one
/// exchange, later ones count like any other time.
package struct ExchangeTimeout: Sendable {
  /// Two sides wait for the same exchange, each with its own clock. The agent, which ends the helper, has to be the more
  /// patient one whenever both were stopped together: it forgives shorter interruptions, counts nothing of them, and
  /// leaves more time.
  package struct Rules: Sendable {
    /// Time beyond what was meant that is no interruption yet: a busy machine.
    var toleranceMilliseconds: Int
    /// Whether an interrupted wait counts for as long as it was meant.
    var countsWhatWasMeant: Bool
    /// What is left at least after an interruption.
    var restMilliseconds: Int

    package static let helper = Rules(toleranceMilliseconds: 3_000, countsWhatWasMeant: true, restMilliseconds: 10_000)
    package static let agent = Rules(toleranceMilliseconds: 1_000, countsWhatWasMeant: false, restMilliseconds: 12_000)
  }

  /// Longest wait until the next look.
  package static let stepMilliseconds = 1_000
  /// Interruptions of one exchange that are forgiven.
  package static let interruptions = 8

  private let rules: Rules
  private var leftMilliseconds: Int
  private var looked: Int
  private var forgiven = 0

  /// `now` is in milliseconds of a clock that counts suspended time.
  package init(milliseconds: Int, _ rules: Rules, at now: Int) {
    self.rules = rules
    leftMilliseconds = milliseconds
    looked = now
  }

  package var isOver: Bool { leftMilliseconds <= 0 }

  /// What to wait at most until the next look.
  package var nextWaitMilliseconds: Int { max(0, min(leftMilliseconds, Self.stepMilliseconds)) }

  /// To be told after every wait, and before what came meanwhile is judged too late.
  package mutating func look(at now: Int) {
    let meant = nextWaitMilliseconds
    let passed = max(0, now - looked)
    looked = now
    guard passed - meant > rules.toleranceMilliseconds, forgiven < Self.interruptions else {
      leftMilliseconds -= passed
      return
    }
    forgiven += 1
    let counted = rules.countsWhatWasMeant ? meant : 0
    leftMilliseconds = max(leftMilliseconds - counted, rules.restMilliseconds)
  }
}
