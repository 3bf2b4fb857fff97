import AgentWire
import ArgumentParser
import OAuthTerms

extension SecretKind: ExpressibleByArgument {}

extension SecretKind: TypedName {
  package var typedNames: [String] { [] }
}

struct SecretCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "secret", abstract: "Hands secrets to the vault; they are never shown again.",
    subcommands: [Set.self, Forget.self])

  struct Set: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Stores a secret, typed or from standard input.",
      discussion: """
        A refresh token takes the place of the account's login (--replace); it is tried with its first use, and at once by
        account import.
        Example: oauthctl secret set work client_secret < FILE
        """)
    @Argument(help: "Account name.", completion: .accountName) var name: String
    @Argument(help: "\(SecretKind.choice).") var kind: SecretKind
    @Flag(help: "Replaces a login by the refresh token.") var replace = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      try AccountName.check(name)
      // There is no other way to give one: without a login it is refused.
      guard kind != .refreshToken || replace else {
        throw .usage(
          "a refresh token takes the place of the login of \(name)",
          next: .run(
            "oauthctl account import \(name) < FILE   # tries it first; without that: oauthctl secret set \(name) refresh_token --replace < FILE"
          ))
      }
      // Before somebody types it for nothing. What is replaced then is the login of now.
      var login: String?
      if context.terminal.inputIsTerminal || kind == .refreshToken {
        do throws(CommandError) { login = try context.agent.ask(AccountShow(account: name), about: name).login } catch {
          // Others may be told of an account that cannot be shown now.
          guard case .agent(let failure, _) = error, failure.kind != .accountUnknown, kind != .refreshToken else {
            throw error
          }
        }
      }
      // Whoever types it is told where it belongs; another server does not get it, even if the file changes meanwhile.
      let check =
        context.terminal.inputIsTerminal
        ? try context.agent.ask(AccountCheck(account: name, definition: nil, discover: false), about: name) : nil
      try check?.throwProblem(of: name)
      let value = try context.terminal.secretFromInput(
        kind.words, asking: "\(kind.words) of \(name)\(check?.secretOwner ?? "")",
        otherwise: .run("oauthctl secret set \(name) \(kind.rawValue) < FILE"))
      try VaultCreation(context: context).createIfAbsent()
      _ = try context.agent.ask(
        SecretSet(
          account: name, kind: kind, value: value, keep: kind == .password ? true : nil,
          secretPlace: check?.secretPlace,
          login: kind == .refreshToken ? login ?? "" : nil),
        about: name)
      context.terminal.say("Kept the \(kind.words) of \(name).")
    }
  }

  struct Forget: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Deletes a kept secret.", discussion: "Example: oauthctl secret forget work password")
    @Argument(help: "Account name.", completion: .accountName) var name: String
    @Argument(help: "\(SecretKind.choice).") var kind: SecretKind
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      try AccountName.check(name)
      let isKept = try context.agent.ask(AccountShow(account: name), about: name).secrets.contains(kind.rawValue)
      // Where none is kept, too: one may have been given for a single use, or for a revocation that is still to be told.
      _ = try context.agent.ask(SecretForget(account: name, kind: kind), about: name)
      context.terminal.say(isKept ? "Forgot the \(kind.words) of \(name)." : "No \(kind.words) of \(name) was kept.")
    }
  }
}

extension AccountCheckAnswer {
  /// The server that a secret is asked for, as a part of the question.
  var secretOwner: String {
    guard let urls = secretURLs, let issuer = urls.first else { return "" }
    let others = urls.dropFirst().joined(separator: ", ")
    return ", for \(issuer)" + (others.isEmpty ? "" : " (it goes to \(others))")
  }
}

extension SecretKind {
  var words: String {
    switch self {
    case .clientSecret: "client secret"
    case .password: "password"
    case .refreshToken: "refresh token"
    }
  }
}
