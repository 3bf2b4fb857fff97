/// What opens a vault.
package enum VaultSlotKind: String, Codable, Sendable, CaseIterable {
  case keyFile = "key_file"
  case recoveryCode = "recovery_code"
  case passphrase

  /// What may be wrong with the slot of a kind: it does not open, or its key file is gone.
  package enum Fault: String, CaseIterable, Sendable { case damaged, missing }

  /// As it stands in ``VaultStatusAnswer/slots``.
  package func entry(_ fault: Fault? = nil) -> String { rawValue + (fault.map { " (\($0.rawValue))" } ?? "") }

  /// Every way in which it can stand there.
  package var entries: [String] { [entry()] + Fault.allCases.map { entry($0) } }
}

/// What a guess at a passphrase costs.
package enum VaultStrength: String, Codable, Sendable, CaseIterable {
  /// 2 passes over 64 MiB, 3 over 256 MiB, 12 over 256 MiB.
  case interactive, moderate, sensitive
}

/// `vault.slots`: the ways to open the vault.
package struct VaultSlots: ParameterlessRequest {
  package typealias Answer = VaultSlotsAnswer
  package static let method = Method.vaultSlots

  package init() {}
}

package struct VaultSlotsAnswer: Codable, Sendable, Equatable {
  package struct Slot: Codable, Sendable, Equatable {
    package var number: Int
    /// Nil: of a later version.
    package var kind: VaultSlotKind?
    /// False: damaged, or missing. Known while the vault is open.
    package var intact: Bool
    /// What Argon2id costs; nil for a key file.
    package var passes: Int?
    package var memoryKiB: Int?

    package init(number: Int, kind: VaultSlotKind?, intact: Bool, passes: Int? = nil, memoryKiB: Int? = nil) {
      self.number = number
      self.kind = kind
      self.intact = intact
      self.passes = passes
      self.memoryKiB = memoryKiB
    }

    package enum CodingKeys: String, CodingKey {
      case number, kind, intact, passes
      case memoryKiB = "memory_kib"
    }
  }
  package var slots: [Slot]
  /// Of a slot that was made now: shown once, and never again.
  package var recoveryCode: String?

  package init(slots: [Slot], recoveryCode: String? = nil) {
    self.slots = slots
    self.recoveryCode = recoveryCode
  }

  package enum CodingKeys: String, CodingKey {
    case slots
    case recoveryCode = "recovery_code"
  }
}

/// `vault.set_slot`: adds a slot, or puts another in its place. A vault with a passphrase wants it as `current`.
package struct VaultSetSlot: RequestParameters, Equatable {
  package typealias Answer = VaultSlotsAnswer
  package static let method = Method.vaultSetSlot

  package var kind: VaultSlotKind
  /// With `passphrase` alone: the new one, 8 to 1,024 bytes.
  package var passphrase: String?
  package var current: String?
  /// With `passphrase` alone; default `moderate`.
  package var strength: VaultStrength?
  /// With `recovery_code` alone, as in ``VaultCreate``.
  package var confirmsCode: Bool?
  /// As in ``VaultCreate``.
  package var vaultDigest: String?

  package init(
    kind: VaultSlotKind, passphrase: String? = nil, current: String? = nil, strength: VaultStrength? = nil,
    confirmsCode: Bool? = nil, vaultDigest: String? = nil
  ) {
    self.vaultDigest = vaultDigest
    self.kind = kind
    self.passphrase = passphrase
    self.current = current
    self.strength = strength
    self.confirmsCode = confirmsCode
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, passphrase, current, strength
    case vaultDigest = "vault_digest"
    case confirmsCode = "confirms_code"
  }
}

/// `vault.remove_slot`: the key file goes with its slot.
package struct VaultRemoveSlot: RequestParameters, Equatable {
  package typealias Answer = VaultSlotsAnswer
  package static let method = Method.vaultRemoveSlot

  package var kind: VaultSlotKind
  package var current: String?
  /// As in ``VaultCreate``.
  package var vaultDigest: String?

  package init(kind: VaultSlotKind, current: String? = nil, vaultDigest: String? = nil) {
    self.kind = kind
    self.current = current
    self.vaultDigest = vaultDigest
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, current
    case vaultDigest = "vault_digest"
  }
}

/// `vault.rekey`: a new data key, key file and recovery code; every record sealed anew.
package struct VaultRekey: RequestParameters, Equatable {
  package typealias Answer = VaultSlotsAnswer
  package static let method = Method.vaultRekey

  /// Required where the vault has one; it stays.
  package var passphrase: String?
  /// As in ``VaultCreate``.
  package var confirmsCode: Bool?
  /// As in ``VaultCreate``.
  package var vaultDigest: String?

  package init(passphrase: String? = nil, confirmsCode: Bool? = nil, vaultDigest: String? = nil) {
    self.passphrase = passphrase
    self.confirmsCode = confirmsCode
    self.vaultDigest = vaultDigest
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case passphrase
    case vaultDigest = "vault_digest"
    case confirmsCode = "confirms_code"
  }
}

/// `vault.confirm_code`: a person has the recovery code that was made last. Another one, and one that was made before the
/// agent's start, changes nothing.
package struct VaultConfirmCode: RequestParameters, Equatable {
  package typealias Answer = EmptyResult
  package static let method = Method.vaultConfirmCode

  package var recoveryCode: String

  package init(recoveryCode: String) { self.recoveryCode = recoveryCode }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable { case recoveryCode = "recovery_code" }
}
