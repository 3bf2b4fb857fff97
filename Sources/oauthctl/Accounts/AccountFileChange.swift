import AgentWire

/// A change of an account's file that was made for a login: it goes again where nobody logs in.
struct AccountFileChange {
  let context: CommandContext
  let account: String
  let file: SettingsFile
  /// The file that is written where the account's is a link to it.
  let target: String?
  /// What was there, and what was written; nil: somebody else has written since.
  let before: SettingsFile.Written
  let written: SettingsFile.Written?
  /// Names the login that was there before the change; nil: none was.
  let login: String?

  /// Puts the old bytes back. What somebody has edited since stays, and so does what somebody has logged in by, or may have:
  /// then they are kept beside it. `failure` is why this login failed.
  ///
  /// - Returns: whether the file is as it was.
  func takeBack(after failure: CommandError) -> Bool {
    let shown = file.name(in: context.environment)
    if written != nil, file.exists, file.current == nil {
      return stays("this login failed, and \(shown) stays changed: it cannot be read just now")
    }
    guard let written, file.holds(written) else {
      return stays("this login failed, and \(shown) has been changed again meanwhile: it stays")
    }
    do throws(CommandError) {
      guard try isLoginOfBefore(failure) else {
        return stays("\(shown) stays changed: another login has begun or ended meanwhile")
      }
      try file.write(before, behind: target, while: { file.holds(written) })
    } catch {
      return stays("\(shown) stays changed: \(error.sentence ?? "it cannot be written")")
    }
    _ = try? context.agent.ask(ConfigReload())
    context.terminal.say("Nobody logged in: \(shown) is as it was.")
    return true
  }

  private func stays(_ why: String) -> Bool {
    let kept = file.keepBeside(before).map { "is in \(context.environment.abbreviated($0))" }
    let isThere = file.current?.content == before.content
    context.terminal.warn(
      why + (isThere ? "" : "; what was there before \(kept ?? "could not be kept beside it")"),
      next: .run("oauthctl account show \(account)"))
    return false
  }

  private func isLoginOfBefore(_ failure: CommandError) throws(CommandError) -> Bool {
    do throws(CommandError) {
      let details = try context.agent.ask(AccountShow(account: account), about: account)
      return details.login == login && details.loginPending != true
    } catch {
      // The lock that still stands has ended the last login that was under way.
      if case .agent(let locked, _) = error, locked.kind == .vaultLocked, failure == .loginEndedByLock(account) {
        return true
      }
      throw error
    }
  }
}
