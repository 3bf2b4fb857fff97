import AgentWire
import ArgumentParser
import OAuthTerms
import SystemFacts

struct ClientMetadataCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "client-metadata", abstract: "Prints the client metadata document for a web site to serve.",
    discussion: """
      Where a server takes such documents, the URL is the client's id, and nothing is registered. config.toml of those \
      who log in names it: client_metadata_url = "https://www.example.com/oauthctl.json"
      Example: oauthctl client-metadata --url https://www.example.com/oauthctl.json > oauthctl.json
      """)

  @Option(help: "Where it will be served (default: client_metadata_url of config.toml).") var url: String?
  @OptionGroup var verbosity: Verbosity

  func run() throws { try run(.live()) }

  func run(_ context: CommandContext) throws(CommandError) {
    guard let url = url ?? Self.configured(context.environment) else {
      throw .usage(
        "where will the document be served? Its URL is the client's id",
        next: .run("oauthctl client-metadata --url https://www.example.com/oauthctl.json"))
    }
    if let reason = ClientMetadata.problem(inURL: url) { throw .usage("--url \(url): \(reason)") }
    context.terminal.data(JSONText.pretty(ClientMetadataDocument(url: url)))
  }

  private static func configured(_ environment: Environment) -> String? {
    environment.folder(.configuration).flatMap { FileBytes.contents(of: $0 + "/config.toml") }
      .flatMap { SettingsText(String(decoding: $0, as: UTF8.self)).text(of: "client_metadata_url") }
  }
}
