import AgentWire

/// What people type to open or change the vault: without echo, or the lines of standard input in the order asked.
struct VaultSecrets {
  /// A hash takes up to some seconds, and four others may be before it.
  static let patienceMilliseconds = 120_000
  /// For commands that ask for what opens the vault.
  static func help(_ example: String) -> String {
    """
    Where the vault has a passphrase it is asked for first, or read as the first line of standard input.
    Example: \(example)
    """
  }

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

  /// Does again what asks for a secret that was wrong, where it is typed at a terminal: whoever is told so types on. After
  /// the third time the agent lets nobody guess for a while. `helps`: whether another secret would.
  func retried<T>(
    while helps: () -> Bool = { true }, _ attempt: () throws(CommandError) -> T
  ) throws(CommandError) -> T {
    for _ in 1..<3 where context.terminal.inputIsTerminal {
      do throws(CommandError) { return try attempt() } catch {
        guard case .agent(let failure, _) = error, failure.kind == .vaultLocked, helps() else { throw error }
        context.terminal.say(failure.message + "; once more:")
      }
    }
    return try attempt()
  }

  /// Which vault is to be changed, and what proves that the person may.
  struct Current {
    let vaultDigest: String?
    /// The passphrase of a vault that has one.
    let secret: String?
  }

  func current() throws(CommandError) -> Current {
    let status = try openVault()
    return Current(
      vaultDigest: status.vaultDigest, secret: status.has(.passphrase) ? try currentPassphrase() : nil)
  }

  private func currentPassphrase() throws(CommandError) -> String {
    guard context.terminal.inputIsTerminal else { return try typedCurrent() }
    return try retried(while: { (try? openVault()) != nil }) { () throws(CommandError) in
      let typed = try typedCurrent()
      try prove(typed)
      return typed
    }
  }

  private func typedCurrent() throws(CommandError) -> String {
    try secret("Current passphrase", "current passphrase")
  }

  /// Throws unless `passphrase` is the vault's, before somebody types a new one twice. A lock that has come while it was typed
  /// stays. What may be the recovery code is
  /// left to the change itself.
  private func prove(_ passphrase: String) throws(CommandError) {
    guard passphrase.filter({ $0.isLetter || $0.isNumber }).count != 30 else { return }
    _ = try context.agent.call(
      VaultUnlock(passphrase: passphrase, dryRun: true), timeoutMilliseconds: Self.patienceMilliseconds)
  }

  /// A new passphrase: twice where it cannot be seen.
  func newPassphrase() throws(CommandError) -> String {
    let terminal = context.terminal
    for isLast in [false, false, true] {
      let first = try secret("New passphrase (8 letters at least)", "new passphrase")
      var fault = "that passphrase is too short: 8 bytes at least, so 8 plain letters"
      if first.utf8.count >= 8 {
        guard terminal.inputIsTerminal else { return first }
        if try terminal.askSecret("The same again", otherwise: Self.advice) == first { return first }
        fault = "the two are not the same"
      }
      guard terminal.inputIsTerminal, !isLast else { throw .usage(fault + "; nothing was changed") }
      terminal.say(fault + "; once more:")
    }
    throw .usage("no new passphrase was given")
  }

  private func secret(_ question: String, _ what: String) throws(CommandError) -> String {
    try context.terminal.secretFromInput(what, asking: question, otherwise: Self.advice)
  }
}
