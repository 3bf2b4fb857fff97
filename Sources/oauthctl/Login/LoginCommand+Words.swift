import AgentWire
import SystemFacts

/// The words of this command line, for the next steps that repeat them.
extension LoginCommand {
  /// The command line without the program's name. No secret is ever in it.
  static var words: [String] { Array(CommandLine.arguments.dropFirst()) }

  /// `words` without an option and its value.
  static func without(_ option: String, _ words: [String]) -> [String] {
    zip(words, [""] + words).filter { $0 != option && $1 != option && !$0.hasPrefix(option + "=") }.map(\.0)
  }

  /// The options as they were typed: all but the command and the first of each of `arguments`.
  static func flags(without arguments: [String]) -> [String] {
    var words = Array(Self.words.dropFirst())
    for argument in arguments { words.firstIndex(of: argument).map { _ = words.remove(at: $0) } }
    return words
  }

  static func commandLine(_ words: [String]) -> String {
    (["oauthctl"] + words.map(ShellWord.quoted)).joined(separator: " ")
  }

  /// A server's address where the account's name belongs.
  func misplacedServer(_ context: CommandContext) -> CommandError? {
    guard let name,
      name.contains("://") || issuer == nil && (name.contains(":") || options.clientID != nil && name.contains("."))
    else { return nil }
    var words = Self.words
    for misplaced in [name, issuer] { words.firstIndex { $0 == misplaced }.map { _ = words.remove(at: $0) } }
    let account = issuer.flatMap { AccountName.isValid($0) ? $0 : nil } ?? NewAccount.freeName(in: context.environment)
    return .usage(
      "\(name) is a server's address; the first word is a name that you choose for the account",
      next: .run(Self.commandLine(["login", account, NewAccount.address(typed: name)] + words.dropFirst())))
  }
}
