import AgentWire

/// Servers forget clients that were registered dynamically: after some time without use, or with a new database. Such a client
/// is registered anew, once in a login, with the redirect of before. An id that a person gave is never replaced.
struct ClientRenewal {
  let context: CommandContext
  let account: String

  /// Milliseconds: metadata in three places, then the registration.
  private static let timeoutMilliseconds = 120_000

  /// Where `error` says that the server does not know the client, and it was registered for this account: registers another,
  /// and writes its id into the account's file, which has to be as `shown` is, and changes nothing else of it. `logIn` runs by
  /// what was written, and shows what it would send elsewhere by that; where nobody logs in, file and secret are those of before.
  ///
  /// - Returns: false: it is another error.
  func renew(
    after error: CommandError, _ shown: AccountCheckAnswer,
    logIn: (AccountCheckAnswer, _ secretsID: String?) throws(CommandError) -> Void
  ) throws(CommandError) -> Bool {
    guard case .agent(let failure, _) = error, failure.kind == .clientRejected, failure.oauthError == "invalid_client"
    else { return false }
    let details = try context.agent.ask(AccountShow(account: account), about: account)
    let file = try SettingsFile(account: account, in: context.environment)
    guard details.clientRegistered == true, let was = file.current,
      Self.count("client_id", details.summary.clientID, in: was.content) == 1
    else { return false }
    let target = file.linkTarget
    let path = file.name(in: context.environment)
    guard try check(was.content).definitionDigest == shown.definitionDigest else { throw changed(path) }
    let client = try context.agent.call(
      ClientRegister(account: account, definition: was.content), timeoutMilliseconds: Self.timeoutMilliseconds)
    if let notice = client.notice { context.terminal.say(notice + ".") }
    let text = Self.text(was.content, of: details.summary.clientID, now: client)
    let hasBegun = Interrupts.beginPuttingOff()
    defer { if hasBegun { Interrupts.endPuttingOff() } }
    let change = try AccountFileChange(
      context, account: account, file: file, target: target, before: was, login: details.login, writing: text,
      // The registration took its time.
      while: { file.isStill(was) && FileBytes.isSpelled(file.linkTarget, target) })
    context.terminal.say(
      "\(details.summary.host) does not know the client of \(account) any more: another was registered, and its id is in \(path) now."
    )
    do throws(CommandError) {
      _ = try context.agent.ask(ConfigReload())
      let check = try check(text)
      try check.throwProblem(of: account)
      try check.throwUnless(believedBy: shown.authority, account)
      let secretsID = client.clientSecret.map { _ in LoginFlow.ownSecretsID }
      if let secret = client.clientSecret {
        _ = try context.agent.ask(
          SecretSet(
            account: account, kind: .clientSecret, value: secret, secretsID: secretsID,
            secretPlace: check.secretPlace),
          about: account)
      }
      try logIn(check, secretsID)
      change.settle()
    } catch {
      _ = change.takeBack(after: error)
      throw error
    }
    return true
  }

  private func check(_ text: String) throws(CommandError) -> AccountCheckAnswer {
    try context.agent.ask(AccountCheck(account: account, definition: text, discover: false), about: account)
  }

  private func changed(_ path: String) -> CommandError {
    .configuration("\(path) was changed meanwhile; nothing is written", next: .run("oauthctl login \(account)"))
  }

  /// `text` with the id of another client, and how that one authenticates where the file says so of the one before.
  static func text(_ text: String, of id: String, now client: ClientRegisterAnswer) -> String {
    let method = client.clientSecret == nil ? "none" : client.clientAuthentication
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
      if line == Self.line("client_id", id) { return Self.line("client_id", client.clientID) }
      if line.hasPrefix("client_authentication = "), let method { return Self.line("client_authentication", method) }
      return String(line)
    }
    return lines.joined(separator: "\n")
  }

  private static func count(_ key: String, _ value: String, in text: String) -> Int {
    text.split(separator: "\n").count { $0 == line(key, value) }
  }

  /// As this program writes it; what a person wrote in another way is left to the person.
  private static func line(_ key: String, _ value: String) -> String { "\(key) = \(TOMLText.string(value))" }
}
