/// `vault.status`.
package struct VaultStatusRequest: ParameterlessRequest {
  package typealias Answer = VaultStatusAnswer
  package static let method = Method.vaultStatus

  package init() {}
}

package struct VaultStatusAnswer: Codable, Sendable, Equatable {
  package enum State: String, Codable, Sendable {
    /// No vault yet: it is created by the first login or secret.
    case absent
    case open, locked
    case keyMissing = "key_missing"
    case inUse = "in_use"
    case damaged, failed
  }
  package var state: State
  /// Kinds of the key slots: `key_file`, `recovery_code`, `passphrase`; with ` (damaged)` behind them where they are, and
  /// ` (missing)` behind that of a vault that is shut and whose key file is gone.
  package var slots: [String]
  package var path: String
  /// Names the vault, by its place and by what opens it.
  package var vaultDigest: String?
  /// One line for people when it is not `open` or `absent`, or older than it should be.
  package var reason: String?
  /// Whether it is older than this machine remembers: tokens are served, and nothing is refreshed. Nil: no.
  package var rolledBack: Bool?
  /// Its last commit, and the one that was expected, where `rolledBack` says so.
  package var rollbackFound: Int?
  package var rollbackExpected: Int?
  /// Names what it holds, where `rolledBack` says so: two vaults may be as old as each other.
  package var rollbackDigest: String?

  /// Whether the recovery code was perhaps handed to nobody, since the agent was killed when it had made it. Nil: no.
  package var recoveryCodeUntold: Bool?

  /// With `damaged`, whether there was a vault and its file is not there any more. Nil: no.
  package var gone: Bool?
  /// With `failed` and `damaged`, one line: what to do about it.
  package var hint: String?
  /// `command` where `hint` is one.
  package var hintKind: String?
  /// With `damaged`, whether it is a key slot or the key file that is: another slot opens the vault, and mends that. Nil: no.
  package var otherSlotOpens: Bool?
  /// Whether the commit counter was missing and has been made anew. Nil: no.
  package var counterMadeAnew: Bool?
  /// Whether the agent alone has what came last: the vault's log was taken away and cannot be put back. Nil: no.
  package var logLost: Bool?
  /// Whether what came last is in memory alone, for lack of room on a disk: a restart of the agent leaves it, and one of the
  /// machine does not. Nil: no.
  package var keptInMemory: Bool?

  package init(
    state: State, slots: [String], path: String, vaultDigest: String? = nil, reason: String? = nil,
    rolledBack: Bool? = nil,
    rollbackFound: Int? = nil, rollbackExpected: Int? = nil, rollbackDigest: String? = nil,
    recoveryCodeUntold: Bool? = nil, gone: Bool? = nil, hint: NextStep? = nil, otherSlotOpens: Bool? = nil,
    counterMadeAnew: Bool? = nil, logLost: Bool? = nil, keptInMemory: Bool? = nil
  ) {
    self.state = state
    self.slots = slots
    self.path = path
    self.vaultDigest = vaultDigest
    self.reason = reason
    self.rolledBack = rolledBack
    self.rollbackFound = rollbackFound
    self.rollbackExpected = rollbackExpected
    self.rollbackDigest = rollbackDigest
    self.recoveryCodeUntold = recoveryCodeUntold
    self.gone = gone
    self.hint = hint?.text
    hintKind = hint?.kind
    self.otherSlotOpens = otherSlotOpens
    self.counterMadeAnew = counterMadeAnew
    self.logLost = logLost
    self.keptInMemory = keptInMemory
  }

  package enum CodingKeys: String, CodingKey {
    case state, slots, path, reason, gone, hint
    case vaultDigest = "vault_digest"
    case rolledBack = "rolled_back"
    case rollbackFound = "rollback_found"
    case rollbackExpected = "rollback_expected"
    case rollbackDigest = "rollback_digest"
    case recoveryCodeUntold = "recovery_code_untold"
    case hintKind = "hint_kind"
    case otherSlotOpens = "other_slot_opens"
    case counterMadeAnew = "counter_made_anew"
    case logLost = "log_lost"
    case keptInMemory = "kept_in_memory"
  }
}

/// `vault.create`: makes the vault and its key file, and tells the recovery code, this once.
package struct VaultCreate: RequestParameters, Equatable {
  package typealias Answer = VaultCreateAnswer
  package static let method = Method.vaultCreate

  /// In place of a vault that is gone, too, and of everything that was in it.
  package var anew: Bool?
  /// Whether ``VaultConfirmCode`` follows once a person has the recovery code.
  package var confirmsCode: Bool?
  /// The vault that a person was shown, as `vault.status` named it: another one is left alone. Nil: whichever it is.
  package var vaultDigest: String?

  package init(anew: Bool? = nil, confirmsCode: Bool? = nil, vaultDigest: String? = nil) {
    self.anew = anew
    self.confirmsCode = confirmsCode
    self.vaultDigest = vaultDigest
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case anew
    case vaultDigest = "vault_digest"
    case confirmsCode = "confirms_code"
  }
}

package struct VaultCreateAnswer: Codable, Sendable, Equatable {
  package var created: Bool
  /// Nil when the vault was there already.
  package var recoveryCode: String?

  package init(created: Bool, recoveryCode: String?) {
    self.created = created
    self.recoveryCode = recoveryCode
  }

  package enum CodingKeys: String, CodingKey {
    case created
    case recoveryCode = "recovery_code"
  }
}

/// `vault.lock`: forgets every key and token, and stays so over restarts until `vault.unlock`.
package struct VaultLock: ParameterlessRequest {
  package typealias Answer = VaultLockAnswer
  package static let method = Method.vaultLock

  package init() {}
}

package struct VaultLockAnswer: Codable, Sendable, Equatable {
  package var state: VaultStatusAnswer.State
  /// False: a hold only; the key file still opens the vault.
  package var sealed: Bool
  /// False: token requests were still under way after a minute; a refresh token that comes later is kept
  /// sealed until the next unlock.
  package var drained: Bool

  package init(state: VaultStatusAnswer.State, sealed: Bool, drained: Bool) {
    self.state = state
    self.sealed = sealed
    self.drained = drained
  }
}

/// `vault.unlock`: opens the vault and ends a lock: by the passphrase, by the recovery code, which also writes a key file
/// that is lost anew, or, with neither, by the key file.
package struct VaultUnlock: RequestParameters, Equatable {
  package typealias Answer = VaultStatusAnswer
  package static let method = Method.vaultUnlock

  package var passphrase: String?
  package var recoveryCode: String?
  /// Only looks whether `passphrase` is the open vault's: a lock stays, and is what is answered.
  package var dryRun: Bool?

  package init(passphrase: String? = nil, recoveryCode: String? = nil, dryRun: Bool? = nil) {
    self.passphrase = passphrase
    self.recoveryCode = recoveryCode
    self.dryRun = dryRun
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case passphrase
    case recoveryCode = "recovery_code"
    case dryRun = "dry_run"
  }
}

/// `vault.accept_rollback`: takes a vault that is older than this machine remembers for the truth.
package struct VaultAcceptRollback: RequestParameters, Equatable {
  package typealias Answer = VaultStatusAnswer
  package static let method = Method.vaultAcceptRollback

  /// As `vault.status` answered: another rollback than this is not accepted. Nil: whatever is found.
  package var found: Int?
  package var expected: Int?
  package var digest: String?
  /// As in ``VaultCreate``.
  package var vaultDigest: String?

  package init(found: Int? = nil, expected: Int? = nil, digest: String? = nil, vaultDigest: String? = nil) {
    self.found = found
    self.expected = expected
    self.digest = digest
    self.vaultDigest = vaultDigest
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case found, expected, digest
    case vaultDigest = "vault_digest"
  }
}
