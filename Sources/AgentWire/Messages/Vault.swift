/// `vault.status`.
package struct VaultStatusRequest: RequestParameters, Equatable {
  package typealias Answer = VaultStatusAnswer
  package static let method = Method.vaultStatus

  package init() {}

  package typealias Keys = CodingKeys
  package enum CodingKeys: CodingKey, CaseIterable {}
  package init(from decoder: any Decoder) throws {}
  package func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: CodingKeys.self) }
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
  /// Kinds of the key slots: `key_file`, `recovery_code`.
  package var slots: [String]
  package var path: String
  /// One line for people when it is not `open` or `absent`.
  package var reason: String?

  package init(state: State, slots: [String], path: String, reason: String? = nil) {
    self.state = state
    self.slots = slots
    self.path = path
    self.reason = reason
  }
}

/// `vault.create`: makes the vault and its key file, and tells the recovery code, this once.
package struct VaultCreate: RequestParameters, Equatable {
  package typealias Answer = VaultCreateAnswer
  package static let method = Method.vaultCreate

  package init() {}

  package typealias Keys = CodingKeys
  package enum CodingKeys: CodingKey, CaseIterable {}
  package init(from decoder: any Decoder) throws {}
  package func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: CodingKeys.self) }
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

/// `vault.unlock`: opens a vault whose key file is gone with the recovery code, and writes a new key file.
package struct VaultUnlock: RequestParameters, Equatable {
  package typealias Answer = VaultStatusAnswer
  package static let method = Method.vaultUnlock

  package var recoveryCode: String

  package init(recoveryCode: String) { self.recoveryCode = recoveryCode }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable { case recoveryCode = "recovery_code" }
}
