import AgentWire

/// A change of an account's file that was made for a login: it goes again where nobody logs in.
struct AccountFileChange {
  let context: CommandContext
  let account: String
  let file: AccountFile
  /// The file that is written where the account's is a link to it.
  let target: String?
  /// What was there, and what was written; nil: somebody else has written since.
  let before: AccountFile.Written
  let written: AccountFile.Written?
  /// Names the login that was there before the change; nil: none was.
  let login: String?

  /// Puts the old bytes back. What somebody has edited since stays, and so does what somebody has logged in by.
  ///
  /// - Returns: whether the file is as it was.
  func takeBack() -> Bool {
    let shown = context.environment.abbreviated(file.path)
    let next = NextStep.run("oauthctl account show \(account)")
    if written != nil, file.exists, file.current == nil {
      context.terminal.warn("this login failed, and \(shown) stays changed: it cannot be read just now", next: next)
      return false
    }
    guard let written, file.holds(written) else {
      context.terminal.warn("this login failed, and \(shown) has been changed again meanwhile: it stays", next: next)
      return false
    }
    do throws(CommandError) {
      guard try isLoginOfBefore() else {
        context.terminal.warn("\(shown) stays changed: another login has begun or ended meanwhile", next: next)
        return false
      }
      try file.write(before, behind: target, while: { file.holds(written) })
    } catch {
      context.terminal.warn("\(shown) stays changed: \(error.sentence ?? "it cannot be written")", next: next)
      return false
    }
    _ = try? context.agent.ask(ConfigReload())
    context.terminal.say("Nobody logged in: \(shown) is as it was.")
    return true
  }

  private func isLoginOfBefore() throws(CommandError) -> Bool {
    do throws(CommandError) {
      let details = try context.agent.ask(AccountShow(account: account), about: account)
      return details.login == login && details.loginPending != true
    } catch {
      // A lock has ended the logins that were under way.
      if case .agent(let failure, _) = error, failure.kind == .vaultLocked { return true }
      throw error
    }
  }
}
