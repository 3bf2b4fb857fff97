import AgentWire

/// What people type to open or change the vault: without echo, or the lines of standard input in the order asked.
struct VaultSecrets {
  /// A hash takes up to some seconds, and four others may be before it.
  static let patienceMilliseconds = 120_000
  private static let advice: NextStep = "give standard input from a file or a pipe, a line each"

  let context: CommandContext

  func passphrase() throws(CommandError) -> String { try secret("Passphrase", "passphrase") }

  func recoveryCode() throws(CommandError) -> String { try secret("Recovery code", "recovery code").trimmed }

  /// The vault, to be changed: nobody types a passphrase first for one that is shut, or not there.
  func openVault() throws(CommandError) -> VaultStatusAnswer {
    let status = try context.agent.ask(VaultStatusRequest())
    try status.checkThere()
    switch status.state {
    case .absent: throw .local("there is no vault yet", next: .run("oauthctl vault create"), status: 5)
    case .locked: throw .agent(AgentFailure(.vaultLocked, "the vault is locked"), account: nil)
    default: return status
    }
  }

  /// The passphrase of a vault that has one; nil for one that has none.
  func current() throws(CommandError) -> String? {
    guard try openVault().has(.passphrase) else { return nil }
    return try secret("Current passphrase", "current passphrase")
  }

  /// Throws unless `passphrase` is the vault's, before somebody types a new one twice. What may be the recovery code is
  /// left to the change itself.
  func prove(_ passphrase: String) throws(CommandError) {
    guard passphrase.filter({ $0.isLetter || $0.isNumber }).count != 30 else { return }
    _ = try context.agent.call(VaultUnlock(passphrase: passphrase), timeoutMilliseconds: Self.patienceMilliseconds)
  }

  /// A new passphrase: twice where it cannot be seen.
  func newPassphrase() throws(CommandError) -> String {
    let first = try secret("New passphrase (8 letters at least)", "new passphrase")
    guard first.utf8.count >= 8 else {
      throw .usage("that passphrase is too short: 8 bytes at least, so 8 plain letters; nothing was changed")
    }
    if context.terminal.inputIsTerminal {
      let second = try context.terminal.askSecret("The same again", otherwise: Self.advice)
      guard first == second else { throw .usage("the two are not the same") }
    }
    return first
  }

  private func secret(_ question: String, _ what: String) throws(CommandError) -> String {
    try context.terminal.secretFromInput(what, asking: question, otherwise: Self.advice)
  }
}
