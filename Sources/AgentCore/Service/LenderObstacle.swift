import AgentWire

/// Why an account has nothing to lend.
struct LenderObstacle: Error {
  /// Its message is without the name of whoever would borrow.
  private let failure: AgentFailure

  init(_ kind: FailureKind, _ reason: String, hint: NextStep?) {
    failure = AgentFailure(kind, reason, hint: hint)
  }

  /// The lender's own failure, with its next step.
  init(_ failure: AgentFailure, of lent: LentToken) {
    var failure = failure
    failure.message = "\(Self.need(lent)): \(failure.message(without: lent.account))"
    self.failure = failure
  }

  static func need(_ lent: LentToken) -> String { "it needs a token of \(lent.account)" }

  /// Without the name of whoever would borrow.
  var reason: String { failure.message }

  var hint: NextStep? { failure.hint }

  /// As whoever asked for a token of `name` is told.
  func failure(of name: String) -> AgentFailure {
    var failure = failure
    failure.message = failure.message(about: name)
    return failure
  }
}
