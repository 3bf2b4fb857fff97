/// What becomes of an account when another vault lies in the place of the one that was open.
extension AccountStateMachine {
  /// The greatest ``AccountRecord/order`` of what is kept here, or is being saved; nil: nothing is.
  package var newest: UInt64? {
    switch phase {
    // It ends what there is.
    case .saving(nil, _): .max
    case .saving(let candidate?, _): candidate.order ?? 0
    case .idle, .sending: latest.map { $0.order ?? 0 }
    }
  }

  /// Whether all that was changed last is durable.
  package var isWritten: Bool { unsaved == nil && newest == record.map { $0.order ?? 0 } }

  /// What this machine has is newer than all that is in that vault. `rollback` holds what is older, and so nothing of this:
  /// here at once, and after a restart by the record.
  mutating func writeAnew(_ next: inout AccountRecord, afterRollback rollback: UInt64?) {
    if !isRolledBack {
      next.grant?.afterRollback = rollback
      record?.grant?.afterRollback = rollback
    }
    self.rollback = rollback
  }

  /// `found` is in that vault and newer than what this machine has, so that nothing has to be written.
  mutating func restore(_ found: AccountRecord, afterRollback rollback: UInt64?) {
    self.rollback = rollback
    record = found.isEmpty ? nil : found
    unsaved = nil
    refreshAges = [:]
    rejected = [:]
    for token in found.tokens where token.isRejected == true { rejected[token.fingerprint] = calls }
    ease()
  }
}
