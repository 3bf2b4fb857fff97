/// What becomes of an account when another vault lies in the place of the one that was open.
extension AccountStateMachine {
  /// What this machine has is newer than all that is in that vault. `rollback` holds what is older, and so nothing of this:
  /// here at once, and after a restart by the record.
  mutating func writeAnew(_ next: inout AccountRecord, afterRollback rollback: UInt64?) {
    if !isRolledBack {
      next.grant?.afterRollback = rollback
      record?.grant?.afterRollback = rollback
    }
    self.rollback = rollback
  }

  /// `found` is in that vault and newer than what this machine has.
  mutating func restore(_ found: AccountRecord, afterRollback rollback: UInt64?) {
    self.rollback = rollback
    unsaved = nil
    for token in found.tokens where token.isRejected == true { rejected[token.fingerprint] = calls }
  }
}
