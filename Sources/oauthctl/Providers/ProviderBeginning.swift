import AgentWire
import SystemFacts

/// What `oauthctl login --provider` begins with: the preset's values, the answers to what it asks, and the id of a client
/// that somebody has registered there.
struct ProviderBeginning {
  let context: CommandContext
  let account: String
  let provider: String
  /// The options as they were typed.
  let flags: [String]

  /// What is known in the end.
  struct Found {
    var options: LoginOptions
    var issuer: String
    var defaults: [String: ProviderDefault]
    var provider: String
  }

  /// - Returns: nil where the account is there already and belongs to that server: its file says how one logs in.
  func find(_ given: LoginOptions) throws(CommandError) -> Found? {
    var values: [String: String] = [:]
    for answer in given.answers {
      let (name, value) = try LoginOptions.pair("--set", answer)
      values[name] = value
    }
    var preset = try show(values)
    // It may have the name of one that everybody knows.
    if let file = preset.file { context.terminal.say("Preset: \(context.environment.abbreviated(file))") }
    for question in preset.questions where values[question.name] == nil && question.standard == nil {
      let text = "\(question.text), as \(question.example)"
      repeat {
        values[question.name] = try context.terminal.askLine(
          text, otherwise: .run(command("--set \(question.name)=\(question.example)")))
      } while try !isTaken(values, to: question.name)
    }
    if preset.account == nil {
      let told = preset
      preset = try show(values)
      // While a person answered, another file may have been put before the one that was told.
      guard FileBytes.isSpelled(preset.file, told.file), FileBytes.isSpelled(preset.text, told.text) else {
        throw .configuration("\(provider): the preset has changed meanwhile; nothing was written", next: "try again")
      }
    }
    guard let defaults = preset.account, let issuer = defaults["issuer"]?.text else {
      throw .configuration("\(provider): the preset names no issuer", next: .run("oauthctl provider show \(provider)"))
    }
    var options = given
    if given.clientID == nil, !given.replace, try SettingsFile(account: account, in: context.environment).exists {
      let known = try context.agent.ask(AccountShow(account: account), about: account)
      guard known.summary.issuer == issuer else {
        throw .configuration(
          "\(account) is there already, for \(known.summary.issuer)",
          next: .run(
            "oauthctl login \(account)   # to log in there; another server in its place: " + command("--replace")))
      }
      // The answers say which server it is. What else was given would change the file.
      guard let other = given.definingFlags.first(where: { $0 != "--set" }) else { return nil }
      throw .configuration(
        "\(account) is there already, and \(other) is for a new account",
        next: .run("oauthctl login \(account)   # as it is; with another file: " + command("--replace")))
    }
    if options.clientID == nil { options.clientID = defaults["client_id"]?.text }
    if options.clientID == nil { options.clientID = try askForClient(preset, defaults, options) }
    return Found(options: options, issuer: issuer, defaults: defaults, provider: provider)
  }

  /// Whether the preset takes the answer to this question; where not, that is told, and it can be asked again.
  private func isTaken(_ values: [String: String], to question: String) throws(CommandError) -> Bool {
    do throws(CommandError) { _ = try show(values) } catch {
      // What is wrong with other answers, another one to this question does not mend.
      guard case .usage(let what, _) = error, what.hasPrefix("\(provider): \(question): ") else { throw error }
      context.terminal.warn(what)
      return false
    }
    return true
  }

  /// - Throws: `CommandError.usage` for an answer that the preset does not take: it was typed here.
  private func show(_ values: [String: String]) throws(CommandError) -> ProviderShowAnswer {
    do throws(CommandError) { return try context.agent.ask(ProviderShow(provider: provider, values: values)) } catch {
      guard !values.isEmpty, case .agent(let failure, _) = error, failure.kind == .badRequest else { throw error }
      throw .usage(failure.message, next: failure.hint ?? .run("oauthctl provider show \(provider)"))
    }
  }

  /// Each user or company registers a client of its own: nobody else's id is in this program.
  private func askForClient(
    _ preset: ProviderShowAnswer, _ defaults: [String: ProviderDefault], _ options: LoginOptions
  ) throws(CommandError) -> String {
    let again = command("--client-id ID")
    let page = preset.registerAt
    var lines = [
      "\(preset.title) needs a client that you have registered there." + (page.map { " Register one at \($0)" } ?? "")
    ]
    if options.grant == nil, !options.device, defaults["grant"] == nil {
      let redirect = try options.redirect() ?? defaults["redirect_uri"]?.text ?? "http://127.0.0.1/callback"
      lines.append("Redirect address: \(redirect)")
    }
    lines += preset.notes
    for question in preset.questions
    where question.standard != nil
      && !options.answers.contains(where: {
        $0.hasPrefix(question.name + "=")
      })
    {
      lines.append(
        "\(question.text): \(question.standard ?? ""); for another: --set \(question.name)=\(question.example)")
    }
    let id = try context.terminal.askLine("Client id", about: lines, otherwise: .run(again))
    guard !id.isEmpty else { throw .usage("no client id was given", next: .run(again)) }
    return id
  }

  /// This login, with one more option.
  private func command(_ more: String) -> String {
    var words = ["oauthctl", "login", account] + flags
    if !flags.contains("--provider"), !flags.contains(where: { $0.hasPrefix("--provider=") }), account != provider {
      words += ["--provider", provider]
    }
    return words.map(ShellWord.quoted).joined(separator: " ") + " " + more
  }
}
