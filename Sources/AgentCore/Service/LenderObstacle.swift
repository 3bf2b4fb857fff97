import AgentWire

/// Why an account has nothing to lend.
struct LenderObstacle: Error {
  let kind: FailureKind
  /// Without the name of whoever would borrow.
  let reason: String
  let hint: NextStep?

  init(_ kind: FailureKind, _ reason: String, hint: NextStep?) {
    (self.kind, self.reason, self.hint) = (kind, reason, hint)
  }

  /// The lender's own failure.
  init(_ failure: AgentFailure, of lent: LentToken) {
    self.init(
      failure.kind, "\(Self.need(lent)): \(failure.message(without: lent.account))", hint: failure.hint)
  }

  static func need(_ lent: LentToken) -> String { "it needs a token of \(lent.account)" }

  /// As whoever asked for a token of `name` is told.
  func failure(of name: String) -> AgentFailure { AgentFailure(kind, "\(name): \(reason)", hint: hint) }
}
