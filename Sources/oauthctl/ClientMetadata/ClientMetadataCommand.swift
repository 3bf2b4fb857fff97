import AgentWire
import ArgumentParser
import FoundationEssentials
import OAuthTerms
import SystemFacts

struct ClientMetadataCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "client-metadata", abstract: "Prints the client metadata document for a web site to serve.",
    discussion: """
      Where a server takes such documents, the URL is the client's id, and nothing is registered. config.toml of those \
      who log in names it: client_metadata_url = "https://www.example.com/oauthctl.json"
      The client is a public one; with --key or --jwks-uri it proves itself by that key (private_key_jwt), and the account's \
      file names the URL as client_id.
      Example: oauthctl client-metadata --url https://www.example.com/oauthctl.json > oauthctl.json
      """)

  @Option(help: "Where it will be served (default: client_metadata_url of config.toml).") var url: String?
  @Option(
    name: .customLong("client-uri"),
    help: ArgumentHelp("A page about the client, which servers show: https://HOST/ of --url.", valueName: "URL"))
  var clientURI: String?
  @Option(
    name: .customLong("redirect-uri"), parsing: .unconditionalSingleValue,
    help: "The redirects that stand in it; repeatable (default: 127.0.0.1 and localhost, each with /callback).")
  var redirectURI: [String] = []
  @Option(
    parsing: .unconditionalSingleValue,
    help: "How people log in: \(Self.grantNames); repeatable (default: both).")
  var grant: [String] = []
  @Option(
    parsing: .unconditionalSingleValue,
    help: "Scope that the client may ask for, where a server wants that; repeatable.")
  var scope: [String] = []
  @Flag(help: "The client takes only tokens that are bound to a key (DPoP).") var dpop = false
  @Option(
    help: ArgumentHelp(
      "Account whose private key is the client's: its public half stands in it.", valueName: "account"),
    completion: .accountName) var key: String?
  @Option(
    name: .customLong("jwks-uri"),
    help: ArgumentHelp("Where the public keys are served, in place of the keys themselves.", valueName: "URL"))
  var keysURL: String?
  @OptionGroup var verbosity: Verbosity

  func run(_ context: CommandContext) throws(CommandError) {
    let isGiven = url != nil
    guard let url = url ?? Self.configured(context.environment) else {
      throw .usage(
        "where will the document be served? Its URL is the client's id",
        next: .run("oauthctl client-metadata --url https://www.example.com/oauthctl.json"))
    }
    if let reason = ClientMetadata.problem(inURL: url) {
      // What a file has may be a mistake that holds a secret.
      throw .usage(isGiven ? "--url \(url): \(reason)" : "client_metadata_url of config.toml: \(reason)")
    }
    var document = ClientMetadataDocument(url: url)
    if let clientURI {
      if let reason = ClientMetadata.problem(inPage: clientURI, ofDocument: url) {
        throw .usage("--client-uri \(clientURI): \(reason)")
      }
      document.page = clientURI
    }
    if !redirectURI.isEmpty { document.redirectURIs = redirectURI }
    for redirect in redirectURI where !ClientMetadata.redirectURIs.contains(redirect) {
      try check(redirect, url, context)
    }
    if !grant.isEmpty { document.grants = try grants() }
    try OptionValues.check("--scope", scope)
    let scopes = NewAccount.scopes(scope)
    document.scope = scopes.isEmpty ? nil : scopes.joined(separator: " ")
    document.usesDPoP = dpop ? true : nil
    try addKeys(to: &document, context)
    context.terminal.data(JSONText.pretty(document))
  }

  /// What a login takes may stand in it: the agent, which reads accounts, says what that is.
  private func check(_ redirect: String, _ url: String, _ context: CommandContext) throws(CommandError) {
    var account = NewAccount(issuer: NewAccount.origin(of: url) ?? url, clientID: url)
    account.redirectURI = redirect
    let check = try context.agent.ask(
      AccountCheck(account: "client", definition: account.tomlText, discover: false))
    guard let problem = check.problems.first else { return }
    throw .usage("--redirect-uri \(ShellWord.quoted(redirect)): \(problem.reason)")
  }

  private static let grantNames = ClientMetadata.grants.map(\.rawValue).joined(separator: " or ")

  private func grants() throws(CommandError) -> [GrantKind] {
    var grants: [GrantKind] = []
    for name in grant {
      guard let kind = GrantKind(typed: name), ClientMetadata.grants.contains(kind) else {
        throw .usage("--grant \(name): it is \(Self.grantNames)")
      }
      if !grants.contains(kind) { grants.append(kind) }
    }
    return grants
  }

  private func addKeys(to document: inout ClientMetadataDocument, _ context: CommandContext) throws(CommandError) {
    if let keysURL {
      if let reason = ClientMetadata.problem(inURL: keysURL) { throw .usage("--jwks-uri \(keysURL): \(reason)") }
      document.authentication = .privateKeyJWT
      document.keysURL = keysURL
    }
    guard let key else { return }
    let text = try KeyCommand.publicKey(of: key, context)
    guard let publicKey = try? JSONDecoder().decode(ClientMetadataDocument.PublicKey.self, from: Data(text.utf8)) else {
      throw .local("the public key of \(key) cannot be read", next: .run("oauthctl key show \(key)"), status: 1)
    }
    document.authentication = .privateKeyJWT
    document.algorithm = publicKey.alg
    // RFC 7591 §2: one of the two.
    if keysURL == nil { document.keys = ClientMetadataDocument.KeySet(keys: [publicKey]) }
  }

  private static func configured(_ environment: Environment) -> String? {
    environment.folder(.configuration).flatMap { FileBytes.contents(of: $0 + "/config.toml") }
      .flatMap { SettingsText(String(decoding: $0, as: UTF8.self)).text(of: "client_metadata_url") }
  }
}
