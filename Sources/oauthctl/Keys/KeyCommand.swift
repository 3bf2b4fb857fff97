import AgentWire
import ArgumentParser
import Glibc
import OAuthTerms
import SystemFacts

struct KeyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key",
    abstract: "Makes, takes over, shows and deletes the private key of an account's client.",
    discussion: """
      The account's file says client_authentication = "private_key_jwt", or grant = "jwt_bearer"; or "tls_client_auth" or "self_signed_tls_client_auth", which show a certificate of the key. The private key is made in the vault, or given to it once, and never leaves it; the public one is registered at the server.
      """,
    subcommands: [Create.self, Import.self, Show.self, Delete.self])

  struct Create: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes a key, and prints the public half as a JWK.",
      discussion: """
        Where the client shows a certificate, the key signs one for itself; the JWK holds it (x5c).

        Example: oauthctl key create work
        """)
    @Argument(help: "Account name.", completion: .accountName) var name: String
    @Option(
      help: ArgumentHelp(
        "How it signs (default: \(SignatureAlgorithm.standard.rawValue)).", discussion: "\(SignatureAlgorithm.choice)."),
      completion: .list(SignatureAlgorithm.names))
    var algorithm: String?
    @Flag(help: "Replaces a key that is there; nobody can get that one back.") var replace = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      try AccountName.check(name)
      if let algorithm, SignatureAlgorithm(typed: algorithm) == nil {
        throw .usage("--algorithm \(algorithm): it is \(SignatureAlgorithm.choice)")
      }
      try KeyCommand.keep(
        KeySet(
          account: name, algorithm: algorithm.flatMap(SignatureAlgorithm.init(typed:))?.rawValue,
          replace: replace ? true : nil), context)
    }
  }

  struct Import: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Keeps a key from standard input: PEM, a JWK, or Google's file of a service account.",
      discussion: """
        Where the client shows a certificate, that comes with the key, in PEM, and those of the authorities between behind it. A certificate alone is for the key that is kept.

        Example: oauthctl key import work < FILE
        Example: cat key.pem certificate.pem | oauthctl key import work
        """)
    @Argument(help: "Account name.", completion: .accountName) var name: String
    @Argument(help: .hidden) var file: String?
    @Flag(help: "Replaces a key that is there; nobody can get that one back.") var replace = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      try AccountName.check(name)
      if let file {
        throw .usage(
          "the key is read from standard input, and no file is named",
          next: .run("oauthctl key import \(name)\(replace ? " --replace" : "") < \(ShellWord.quoted(file))"))
      }
      if context.terminal.inputIsTerminal {
        throw .usage("the key is read from standard input", next: .run("oauthctl key import \(name) < FILE"))
      }
      guard let bytes = FileBytes.readAll(from: STDIN_FILENO, limit: 32 << 10), !bytes.isEmpty else {
        throw .usage(
          "standard input holds no key (at most 32 KiB)", next: .run("oauthctl key import \(name) < FILE"))
      }
      // On the wire a secret is one line.
      let line = bytes.map { [0x09, 0x0A, 0x0D].contains($0) ? 0x20 : $0 }
      guard let text = String(validating: line, as: UTF8.self) else {
        throw .usage(
          "standard input holds a key in binary form", next: .run("openssl pkey -in FILE | oauthctl key import \(name)")
        )
      }
      try KeyCommand.keep(KeySet(account: name, key: text, replace: replace ? true : nil), context)
    }
  }

  struct Show: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints the public half as a JWK.", discussion: "Example: oauthctl key show work")
    @Argument(help: "Account name.", completion: .accountName) var name: String
    @Flag(help: "Prints the certificates of the key instead, in PEM.") var certificate = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      let key = try KeyCommand.publicKey(of: name, context)
      guard certificate else { return context.terminal.data(key) }
      guard let text = CertificateText(publicKey: key) else {
        throw .configuration(
          "\(name): its key has no certificate",
          next: .run("oauthctl key import \(name) < FILE   # the certificate, in PEM"))
      }
      context.terminal.data(text.pem)
    }

    /// Why there is none.
    static func noKey(_ details: AccountDetails) -> CommandError {
      let name = details.summary.account
      let method = details.clientAuthentication.flatMap(ClientAuthenticationMethod.init(rawValue:))
      guard ClientAuthenticationMethod.needsPrivateKey(method, GrantKind(rawValue: details.summary.grant)) else {
        return .configuration("\(name): it has no key, and its file names no use for a private key")
      }
      return .configuration("\(name): it has no key", next: KeyCommand.another(details))
    }
  }

  struct Delete: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Deletes the key; nobody can get it back.", discussion: "Example: oauthctl key delete work")
    @Argument(help: "Account name.", completion: .accountName) var name: String
    @Flag(name: .shortAndLong, help: "Does not ask.") var yes = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      try AccountName.check(name)
      let details = try context.agent.ask(AccountShow(account: name), about: name)
      guard let key = details.publicKey else {
        context.terminal.say("No key of \(name) was kept.")
        return
      }
      if !yes {
        try context.terminal.agree(
          "Delete the key of \(name)?", about: ["Its public half: \(key)"],
          otherwise: .run("oauthctl key delete \(name) --yes"))
      }
      _ = try context.agent.ask(SecretForget(account: name, kind: .clientSecret, publicKey: key), about: name)
      context.terminal.say("Deleted the key of \(name).")
      guard details.loggedInAt != nil else { return }
      context.terminal.warn("\(name) cannot renew its tokens without a key", next: KeyCommand.another(details))
    }
  }

  static func another(_ details: AccountDetails) -> NextStep {
    let name = details.summary.account
    let method = details.clientAuthentication.flatMap(ClientAuthenticationMethod.init(rawValue:))
    let importing = ClientAuthenticationMethod.keyImport(name, method)
    return .run("oauthctl key create \(name)   # or, for one that is there: \(importing)")
  }

  /// The public half as a JWK.
  static func publicKey(of name: String, _ context: CommandContext) throws(CommandError) -> String {
    try AccountName.check(name)
    let details = try context.agent.ask(AccountShow(account: name), about: name)
    guard let key = details.publicKey else { throw Show.noKey(details) }
    return key
  }

  fileprivate static func keep(_ request: KeySet, _ context: CommandContext) throws(CommandError) {
    // Known to the agent before a vault is made for it.
    let check = try context.agent.ask(AccountCheck(account: request.account, definition: nil, discover: false))
    if !check.problems.isEmpty {
      // Of an account that is not there, more is known than that it has no file.
      _ = try context.agent.ask(AccountShow(account: request.account), about: request.account)
      try check.throwProblem(of: request.account)
    }
    var request = request
    request.secretPlace = check.secretPlace
    try VaultCreation(context: context).createIfAbsent()
    let answer: KeySetAnswer
    do throws(CommandError) { answer = try context.agent.ask(request, about: request.account) } catch {
      // What was given, or a key in the place of which it would come: typed, all of it.
      guard case .agent(let failure, _) = error, failure.kind == .badRequest else { throw error }
      throw .usage(failure.message(about: request.account), next: failure.hint)
    }
    context.terminal.data(answer.publicKey)
    context.terminal.say(answer.words(for: request.account, check.secretOwner))
  }
}

extension KeySetAnswer {
  /// What was kept, and what is to be done with what was printed. `owner`: the server that a key is for, as a part of the
  /// sentence; a certificate that came alone leaves its key where that belongs.
  fileprivate func words(for account: String, _ owner: String) -> String {
    if isCertificateAlone == true {
      return
        "Kept the certificate, for the key that \(account) had. Where the server was given the one before, give it this "
        + "one, above."
    }
    if CertificateText(publicKey: publicKey) != nil {
      return "Kept the key and the certificate of \(account)\(owner). Register the public half with it, above, there."
    }
    return "Kept the key of \(account)\(owner). Register the public half, above, there."
  }
}
