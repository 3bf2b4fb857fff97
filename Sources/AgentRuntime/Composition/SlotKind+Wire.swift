import AgentWire
import TokenVault

extension VaultSlotKind {
  init(_ kind: SlotKind) {
    self =
      switch kind {
      case .keyFile: .keyFile
      case .recoveryCode: .recoveryCode
      case .passphrase: .passphrase
      }
  }
}

extension SlotKind {
  init(_ kind: VaultSlotKind) {
    self =
      switch kind {
      case .keyFile: .keyFile
      case .recoveryCode: .recoveryCode
      case .passphrase: .passphrase
      }
  }
}
