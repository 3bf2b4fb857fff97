import AgentWire

/// The first login makes the vault. Its recovery code is shown once, to the person who is there now.
struct VaultCreation {
  let bench: Workbench

  func createIfAbsent() throws(CommandError) {
    let status = try bench.agent.ask(VaultStatusRequest())
    // Nobody goes through a login that could not be kept.
    try status.checkThere()
    guard status.state == .absent else { return }
    let answer = try bench.agent.ask(VaultCreate())
    guard answer.created, let code = answer.recoveryCode else { return }
    try bench.terminal.showRecoveryCode(code, byLogin: true)
  }
}
