import AgentWire
import ArgumentParser
import HelperFormats
import SystemFacts

/// The way through ArgumentParser, with its errors said in our words and its exit statuses mapped to ours.
enum CommandLineEntry {
  /// Throws `CommandError.usage` where an argument is no UTF-8: what a text makes of it would be another one, and name another
  /// file.
  static func checkArguments() throws(CommandError) {
    for index in 0..<Int(CommandLine.argc) {
      guard let bytes = CommandLine.unsafeArgv[index], String(validatingCString: bytes) == nil else { continue }
      throw .usage(
        "the argument \(String(cString: bytes)) is not UTF-8; nothing is done",
        next: "write it in UTF-8, give that file another name, or have curl read the bytes from one (@FILE)")
    }
  }

  /// - Returns: the exit status.
  static func run(_ arguments: [String]) -> Int32 {
    var words = Array(arguments.dropFirst())
    if let program = arguments.first, let dialect = Dialect(program: FileBytes.name(of: program)) {
      words = [dialect.subcommand] + words
    }
    words = Verbosity.taken(from: words)
    do {
      var command = try Oauthctl.parseAsRoot(words)
      try command.run()
      return 0
    } catch {
      return report(error, words, to: .live())
    }
  }

  /// Says what an error means.
  ///
  /// - Returns: the exit status: a command's own, 0 for help, 64 for a command line that is not understood.
  static func report(_ error: any Error, _ words: [String], to terminal: Terminal) -> Int32 {
    if let error = error as? CommandError { return tell(error, words, to: terminal) }
    let message = ArgumentProblem.message(Oauthctl.message(for: error), words, of: command(words))
    if Oauthctl.exitCode(for: error) == .success {
      if words.first == "help", let unknown = unknownCommand(Array(words.dropFirst()), after: ["help"]) {
        return tell(unknown, words, to: terminal)
      }
      terminal.page(
        Oauthctl.fullMessage(for: error).split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
      return 0
    }
    let usage =
      unknownCommand(words)
      ?? CommandError.usage(
        message.isEmpty ? "no command" : ArgumentProblem(message, of: command(words)).words,
        next: .run(
          ArgumentProblem.step(message, path(words)) ?? (["oauthctl"] + path(words) + ["--help"]).joined(separator: " ")
        ))
    return tell(usage, words, to: terminal)
  }

  /// The failure where a word stands in the place of a command and is none; nil: there is no such word. `leading`: what was
  /// typed before `words`, and belongs to the next step too.
  static func unknownCommand(_ words: [String], after leading: [String] = []) -> CommandError? {
    let path = path(words)
    let groups = path.reduce(into: [Oauthctl.self as any ParsableCommand.Type]) { groups, word in
      groups += groups.last?.configuration.subcommands.filter { $0._commandName == word } ?? []
    }
    guard let group = groups.last, words.count > path.count, !words[path.count].hasPrefix("-"),
      words[path.count] != "help",
      case let names = group.configuration.subcommands.map({ $0._commandName }), !names.isEmpty
    else { return nil }
    let word = words[path.count]
    if let ours = OtherToolsWords.ours(path + [word]) {
      return .usage(
        "there is no command \((["oauthctl"] + path).joined(separator: " ")) \(word); did you mean oauthctl \(ours)?",
        next: .run(
          (["oauthctl"] + leading + [ours] + words.dropFirst(path.count + 1).map(ShellWord.quoted)).joined(
            separator: " ")))
    }
    // It may be one of another command's, as `log` is of `agent`.
    let elsewhere = group.configuration.subcommands.first { command in
      command.configuration.subcommands.contains { $0._commandName == word }
    }
    let meant =
      elsewhere.map { "\($0._commandName) \(word)" } ?? NameSuggestion.nearest(to: word, among: names)
      ?? names.first { name in
        name.split(separator: "-").contains { NameSuggestion.nearest(to: word, among: [String($0)]) != nil }
      }
    let before = (["oauthctl"] + path).joined(separator: " ")
    let step = (["oauthctl"] + leading + path).joined(separator: " ")
    return .usage(
      "there is no command \(before) \(word)" + (meant.map { "; did you mean \(before) \($0)?" } ?? ""),
      next: .run(
        meant.map { name in
          ([step, name] + words.dropFirst(path.count + 1).map(ShellWord.quoted)).joined(separator: " ")
        } ?? "\(before) --help"))
  }

  /// What the first words name, as far as they do.
  private static func command(_ words: [String]) -> any ParsableCommand.Type {
    path(words).reduce(Oauthctl.self as any ParsableCommand.Type) { command, word in
      command.configuration.subcommands.first { $0._commandName == word } ?? command
    }
  }

  /// The first words, as long as they name a command.
  private static func path(_ words: [String]) -> [String] {
    var command: any ParsableCommand.Type = Oauthctl.self
    var path: [String] = []
    for word in words {
      guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
      path.append(word)
      command = next
    }
    return path
  }

  /// In words for people, and as JSON for whoever asked for JSON.
  private static func tell(_ error: CommandError, _ words: [String], to terminal: Terminal) -> Int32 {
    terminal.fail(error)
    if error.sentence != nil, FailureText.isAskedFor(words) { terminal.data(JSONText.line(FailureText(error))) }
    return error.status
  }
}
