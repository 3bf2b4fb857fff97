import AgentWire

/// The first login makes the vault. Its recovery code is shown once, to the person who is there now.
struct VaultCreation {
  let context: CommandContext

  func createIfAbsent() throws(CommandError) {
    let status = try context.agent.ask(VaultStatusRequest())
    // Nobody goes through a login that could not be kept.
    try status.checkThere()
    guard status.state == .absent else { return }
    context.terminal.say("Making a vault for your logins. Its recovery code, shown only now:")
    // Where nobody can have read that, the first record makes the vault, and `vault status` tells that its code is unknown.
    guard context.terminal.errorIsSeen() else { return }
    let answer = try context.agent.ask(VaultCreate(confirmsCode: true))
    guard answer.created, let code = answer.recoveryCode else {
      return context.terminal.say(
        "  Another program has made the vault meanwhile; if nobody has its code: oauthctl vault recovery renew")
    }
    try context.showRecoveryCode(code, byLogin: true)
  }
}
