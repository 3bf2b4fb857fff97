import AgentWire

/// The first login makes the vault. Its recovery code is shown once, to the person who is there now.
struct VaultCreation {
  let context: CommandContext

  func createIfAbsent() throws(CommandError) {
    let status = try context.agent.ask(VaultStatusRequest())
    // Nobody goes through a login that could not be kept.
    try status.checkThere()
    guard status.state == .absent else { return }
    let answer = try context.agent.ask(VaultCreate())
    guard answer.created, let code = answer.recoveryCode else { return }
    try context.terminal.showRecoveryCode(code, byLogin: true)
  }
}
