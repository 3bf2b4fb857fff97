import AgentWire

/// A change of an account's file that is made for a login: it goes again where nobody logs in.
///
/// Until that is known, what was there lies beside it, as `NAME.toml.old`. So to take the change back needs no room on the
/// disk, and a command that is killed has lost nothing.
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
  private let kept: SettingsFile

  /// Writes `text` while `isMeant`. Throws `CommandError`, and then nothing is changed.
  init(
    _ context: CommandContext, account: String, file: SettingsFile, target: String?, before: SettingsFile.Written,
    login: String?, writing text: String, while isMeant: () -> Bool
  ) throws(CommandError) {
    (self.context, self.account, self.file, self.target) = (context, account, file, target)
    (self.before, self.login) = (before, login)
    kept = try file.keepBeside(before, behind: target)
    do throws(CommandError) { written = try file.write(text, behind: target, while: isMeant) } catch {
      kept.removeIfHolds(before)
      throw error
    }
  }

  /// The change stays: what was there before is not needed any more.
  func settle() { kept.removeIfHolds(before) }

  /// Puts the old file back. What somebody has edited since stays, and so does what somebody has logged in by, or may have:
  /// then the old one stays beside it. `failure` is why this login failed.
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
      if let reason = try otherLogin(failure) { return stays("\(shown) stays changed: \(reason)") }
      try file.putBack(before, keptAt: kept, behind: target, while: { file.holds(written) })
    } catch {
      return stays("\(shown) stays changed: \(error.sentence ?? "it cannot be written")")
    }
    _ = try? context.agent.ask(ConfigReload())
    context.terminal.say("Nobody logged in: \(shown) is as it was.")
    return true
  }

  private func stays(_ why: String) -> Bool {
    let isThere = file.holds(before)
    if isThere { settle() }
    let kept = kept.mayHold(before) ? kept : try? file.keepBeside(before, behind: target, isThere: false)
    let place = kept.map { "is in \(context.environment.abbreviated($0.path))" } ?? "could not be kept beside it"
    context.terminal.warn(
      why + (isThere ? "" : "; what was there before \(place)"),
      next: .run("oauthctl account show \(account)"))
    return false
  }

  /// Why somebody may be logged in by what was written; nil: nobody can be.
  private func otherLogin(_ failure: CommandError) throws(CommandError) -> String? {
    do throws(CommandError) {
      let details = try context.agent.ask(AccountShow(account: account), about: account)
      if details.loginPending == true { return "a login is still under way" }
      return details.login == login ? nil : "another login has ended meanwhile"
    } catch {
      // The lock that still stands has ended the last login that was under way.
      if case .agent(let locked, _) = error, locked.kind == .vaultLocked, failure == .loginEndedByLock(account) {
        return nil
      }
      throw error
    }
  }
}
