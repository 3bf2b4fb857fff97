import AgentWire

/// `login --add-scope`: writes further scopes into the account's file before the login, and takes them back where it fails.
/// The file is the person's word on what is asked for, so it is changed where they see it.
struct ScopeAddition {
  let context: CommandContext
  let account: String
  let scopes: [String]

  /// `logIn` runs with the file as it is to be, and with what is known of the text that was written; nil: it is as it was.
  func around(_ logIn: (AccountCheckAnswer?) throws(CommandError) -> Void) throws(CommandError) {
    let details = try context.agent.ask(AccountShow(account: account), about: account)
    let file = SettingsFile(path: details.file)
    let shown = file.name(in: context.environment)
    guard let before = file.current, let present = ScopeText.scopes(in: before.content) else {
      throw notEditable(shown)
    }
    // Where the file leaves the scope to the server, what was granted is what the login has: asked for alone, the new one
    // would take its place.
    let granted = present.isEmpty && details.loggedInAt != nil ? details.summary.scope : []
    let more = (granted + scopes).filter { !present.contains($0) }
    guard !more.isEmpty else {
      context.terminal.say("\(shown) asks for that already.")
      return try logIn(nil)
    }
    guard let text = ScopeText.adding(more, to: before.content) else { throw notEditable(shown) }
    let check = try context.agent.ask(AccountCheck(account: account, definition: text, discover: false), about: account)
    if let problem = check.problems.first {
      throw .configuration(
        "\(account): \(problem.sentence)", next: "nothing was written: correct that, and run the command again")
    }
    let target = file.linkTarget
    Interrupts.beginPuttingOff()
    defer { Interrupts.endPuttingOff() }
    let change = try AccountFileChange(
      context, account: account, file: file, target: target, before: before, login: details.login, writing: text,
      while: { file.isStill(before) })
    context.terminal.say(FileLines.differences(from: before.content, to: text) + ["Saved \(shown)"])
    do throws(CommandError) {
      _ = try context.agent.ask(ConfigReload())
      try logIn(check)
      change.settle()
    } catch {
      _ = change.takeBack(after: error)
      throw error
    }
  }

  private func notEditable(_ shown: String) -> CommandError {
    .configuration(
      "\(account): the scope in \(shown) is written in a way that only you can change",
      next: "add \(scopes.joined(separator: " ")) to scope there, then: oauthctl login \(account)")
  }
}
