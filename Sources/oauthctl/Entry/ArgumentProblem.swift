import AgentWire
import ArgumentParser
import OAuthTerms

/// ArgumentParser's sentence about a command line, as a part of ours.
struct ArgumentProblem {
  let words: String

  init(_ message: String, of command: any ParsableCommand.Type) {
    let plain = (message.prefix(1).lowercased() + message.dropFirst())
      .replacingFirst(". Please provide", with: "; give")
    if let option = Self.quoted(plain, after: "unknown option "), option.hasPrefix("--") {
      // Its own suggestion is the nearest one, however far that is.
      let meant = Self.meant(option, among: Self.options(of: command))
      words = "unknown option '\(option)'" + (meant.map { "; did you mean '\($0)'?" } ?? "")
    } else if Self.quoted(plain, after: "missing expected argument ") == "<kind>" {
      words = "the kind of the secret is missing: \(SecretKind.choice)"
    } else if plain.range(ofText: " is invalid for '<kind>'") != nil {
      words = plain + ", behind the account's name"
    } else if plain.range(ofText: " is invalid for '") != nil, plain.hasSuffix("'") {
      // Those that take a word of a list say so themselves.
      words = plain + ": it takes a whole number"
    } else {
      words = plain.replacingFirst(". Did you mean", with: "; did you mean")
    }
  }

  /// ArgumentParser's sentence, but that an unknown option comes before an argument that is missing beside it: who typed that
  /// takes the option for the argument.
  static func message(_ message: String, _ words: [String], of command: any ParsableCommand.Type) -> String {
    guard message.hasPrefix("Missing expected argument ") else { return message }
    let known = options(of: command)
    let options = words.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) }
    return options.first { !known.contains($0) }.map { "Unknown option '\($0)'" } ?? message
  }

  /// A command that fits better than the help of the one that was typed; nil: none does.
  static func step(_ message: String, _ path: [String]) -> String? {
    // The name of an account that is still to come stands in no list.
    if message.hasPrefix("Missing expected argument '<name>'"), path != ["account", "import"] {
      return "oauthctl account list   # then name one"
    }
    if path == ["status"], let name = quoted(message, after: "Unexpected argument "), AccountName.isValid(name) {
      return "oauthctl account show \(name)"
    }
    return nil
  }

  /// One that goes on as `option` does, as `--client-secret-stdin`, comes before one that is spelled like it.
  private static func meant(_ option: String, among names: [String]) -> String? {
    names.first { $0.hasPrefix(option + "-") } ?? NameSuggestion.nearest(to: option, among: names)
  }

  /// What the command's help names.
  private static func options(of command: any ParsableCommand.Type) -> [String] {
    var names: [String] = []
    for word in Oauthctl.helpMessage(for: command).split(whereSeparator: { " \n,[]()|/".contains($0) })
    where word.hasPrefix("--") && word.count > 2 && !names.contains(String(word)) {
      names.append(String(word))
    }
    return names
  }

  /// The word in quotes behind `beginning`.
  private static func quoted(_ message: String, after beginning: String) -> String? {
    guard message.hasPrefix(beginning + "'") else { return nil }
    return String(message.dropFirst(beginning.count + 1).prefix { $0 != "'" })
  }
}
