import AgentWire

/// What a vault's status means to a person, and what to do about it.
extension VaultStatusAnswer {
  /// What is wrong where `recoveryCodeUntold` says so.
  var untoldWords: String { "its recovery code may have been shown to nobody" }

  var lacksKeyFile: Bool { keyFileFault == .missing }

  var keyFileFault: VaultSlotKind.Fault? {
    VaultSlotKind.Fault.allCases.first { slots.contains(VaultSlotKind.keyFile.entry($0)) }
  }

  /// A slot that a person types something for.
  private var damagedSlot: VaultSlotKind? {
    [.passphrase, .recoveryCode].first { slots.contains($0.entry(.damaged)) }
  }

  /// Throws where there was a vault that is gone, or one that cannot be read: nothing opens or changes it.
  func checkThere() throws(CommandError) {
    if gone == true { throw .local(reason ?? "the vault is gone", next: remedy, status: 5) }
    // One whose slots can be read may be whole again by now: the next attempt to open it tells.
    guard [.failed, .inUse].contains(state) || (isLost && slots.isEmpty) else { return }
    // What only a person can mend is not waited for: the status is that of a vault that cannot be used.
    throw .local(
      reason ?? StatusPage.vaultText(self), next: remedy, status: state != .inUse && nextStep != nil ? 5 : 6)
  }

  /// What is not as it should be, in one line; nil: nothing.
  var trouble: String? {
    if let reason { return reason }
    switch state {
    case .locked: return "nobody is given a token until it is unlocked"
    case .open:
      return keyFileFault?.words
        ?? damagedSlot.map { "its \($0.words) is damaged, or an older one: what was set last does not open it" }
    case .absent, .keyMissing, .inUse, .damaged, .failed: return nil
    }
  }

  /// What a person has to do before tokens are served and refreshed again; nil: nothing.
  var remedy: NextStep? {
    switch state {
    case .absent: return nil
    case .open:
      guard rolledBack == true else {
        return reason == nil ? (keyFileFault == nil ? damagedSlot : .keyFile).map { .run(VaultCheck.repair($0)) } : nil
      }
      // A counter that cannot be read has a remedy of its own.
      return nextStep ?? .run("oauthctl vault accept-rollback   # if you put a backup back")
    case .locked, .keyMissing:
      if let nextStep { return nextStep }
      // By the passphrase, where it has one: a person knows that, and has the code elsewhere. The code writes a key file by
      // itself.
      let isKeyFileToBeMade = has(.passphrase) && (state == .keyMissing || lacksKeyFile)
      return .run("oauthctl vault unlock" + (isKeyFileToBeMade ? " && \(VaultCheck.repair(.keyFile))" : ""))
    // Doctor looks who that is.
    case .inUse: return nextStep ?? .run("oauthctl doctor")
    case .damaged where gone == true:
      return nextStep
        ?? "put it back, or a backup of it; to begin anew without what was in it: oauthctl vault create --anew"
    case .damaged, .failed: return nextStep ?? .run("oauthctl doctor")
    }
  }

  /// Whether the vault has an undamaged slot of this kind, as far as that can be told.
  func has(_ kind: VaultSlotKind) -> Bool { slots.contains(kind.entry()) }

  /// What opens it, for people.
  var slotWords: String { Self.words(slots) }

  /// What is left to open it without one of them.
  func words(without kind: VaultSlotKind) -> String { Self.words(slots.filter { !kind.entries.contains($0) }) }

  private static func words(_ slots: [String]) -> String {
    slots.map { PrintableText.escaped(String($0.map { $0 == "_" ? " " : $0 })) }.joined(separator: ", ")
  }
}

extension VaultSlotKind.Fault {
  /// What it means for the key file of a vault that is open.
  fileprivate var words: String {
    switch self {
    case .damaged: "its key file is damaged, and does not open it after the agent's next start"
    case .missing: "its key file is gone, and nothing but a person opens it after the agent's next start"
    }
  }
}
