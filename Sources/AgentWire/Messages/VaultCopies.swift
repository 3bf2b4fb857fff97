/// `vault.backup`: writes a copy of the vault, sealed as it is, for the caller to take away.
package struct VaultBackup: ParameterlessRequest {
  package typealias Answer = VaultBackupAnswer
  package static let method = Method.vaultBackup

  package init() {}
}

package struct VaultBackupAnswer: Codable, Sendable, Equatable {
  /// In the vault's folder, mode 0600, a name of its own. It is removed after ten minutes, or when the slots are changed.
  package var path: String
  package var bytes: Int
  package var records: Int

  package init(path: String, bytes: Int, records: Int) {
    self.path = path
    self.bytes = bytes
    self.records = records
  }
}

/// `vault.check`: reads every page, seal and slot of the vault, or of a backup.
package struct VaultCheck: RequestParameters, Equatable {
  package typealias Answer = VaultCheckAnswer
  package static let method = Method.vaultCheck

  /// What a backup may have.
  package static let maximumFileBytes = 1 << 30

  /// Of a backup, absolute; nil: the vault itself.
  package var path: String?
  /// Of the backup, where neither the open vault's key nor the key file opens it.
  package var passphrase: String?
  package var recoveryCode: String?

  package init(path: String? = nil, passphrase: String? = nil, recoveryCode: String? = nil) {
    self.path = path
    self.passphrase = passphrase
    self.recoveryCode = recoveryCode
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case path, passphrase
    case recoveryCode = "recovery_code"
  }
}

package struct VaultCheckAnswer: Codable, Sendable, Equatable {
  package var records: Int
  /// Changes since the vault was made.
  package var commit: Int
  /// `vault_key`: the key of the open vault; else the kind of a slot.
  package var openedBy: String
  package var slots: [VaultSlotsAnswer.Slot]
  /// What the open vault has, where this is a copy of it and one of the two was changed since.
  package var vault: Extent?
  /// True where a copy has a slot for a key file, and no key file here opens it.
  package var lacksKeyFile: Bool?

  /// How far a vault has come.
  package struct Extent: Codable, Sendable, Equatable {
    package var records: Int
    package var commit: Int

    package init(records: Int, commit: Int) {
      self.records = records
      self.commit = commit
    }
  }

  package init(
    records: Int, commit: Int, openedBy: String, slots: [VaultSlotsAnswer.Slot], vault: Extent? = nil,
    lacksKeyFile: Bool? = nil
  ) {
    self.records = records
    self.commit = commit
    self.openedBy = openedBy
    self.slots = slots
    self.vault = vault
    self.lacksKeyFile = lacksKeyFile
  }

  package enum CodingKeys: String, CodingKey {
    case records, commit, slots, vault
    case openedBy = "opened_by"
    case lacksKeyFile = "lacks_key_file"
  }
}
