import AgentCore
import AgentWire
import FoundationEssentials
import HTTPTerms
import OAuthProtocol
import Providers
import Sealing
import Testing

@testable import AgentRuntime

@Suite("The presets in the program")
struct EmbeddedPresetTests {
  private static let names = EmbeddedProviders.all.map(\.name)
  private static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  private static func preset(_ name: String) throws -> ProviderPreset {
    let text = try #require(EmbeddedProviders.all.first { $0.name == name }).text
    return try PresetReader.read(text, name: name, file: nil, folder: ConfigurationFolder(path: "/", home: nil)).get()
  }

  @Test("Each file of the folder is one, under its own name")
  func files() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.root + "/Sources/Providers/Presets")
    #expect(files.sorted() == Self.names.map { $0 + ".toml" }.sorted())
    for (name, text) in EmbeddedProviders.all {
      let file = FileManager.default.contents(atPath: "\(Self.root)/Sources/Providers/Presets/\(name).toml")
      #expect(file.map(Array.init) == text, "\(name)")
    }
  }

  @Test("Each makes an account that asks for what its provider's documents say", arguments: names)
  func login(_ name: String) throws {
    let preset = try Self.preset(name)
    let examples = preset.questions.reduce(into: [:]) { $0[$1.name] = $1.example }
    var definition = try preset.definition(examples).get()
    #expect(definition.clientID == "-", "no preset brings a client of somebody else")
    definition.clientID = "client"
    let endpoint = definition.authorizationEndpoint ?? PresetVectors.discovered[name]
    let redirect = try RedirectURI(definition.redirectURI)
    let url = try AuthorizationRequest(
      endpoint: try WebURL(try #require(endpoint)), clientID: definition.clientID,
      redirectURI: redirect.parameter(port: 1), scope: definition.scope, state: Secret(Array("s".utf8)),
      codeChallenge: "c", resources: definition.resource, audiences: definition.audience,
      extra: definition.authorizeParameters.sorted { $0.key < $1.key }.map { ExtraParameter($0.key, $0.value) }
    ).url()
    #expect(url == PresetVectors.logins[name])
    #expect(definition.authorizationEndpoint == nil || PresetVectors.discovered[name] == nil)
    #expect(
      !definition.hosts.isEmpty || definition.authorizationEndpoint == nil
        || ["gitea", "forgejo", "codeberg"].contains(name))
  }

  @Test("Each tells where a client is registered, and names its sources", arguments: names)
  func told(_ name: String) throws {
    let preset = try Self.preset(name)
    #expect(preset.registerAt?.hasPrefix("https://") == true)
    #expect(preset.text.hasPrefix("# Sources: "))
    #expect(preset.text.utf8.count < 4_096)
  }

  @Test("A reuse window is only where the provider has one for everybody")
  func windows() throws {
    let windows = try Self.names.compactMap { name in
      try Self.preset(name).account.values["reuse_grace_s"].map { "\(name) \($0)" }
    }
    #expect(windows == ["atlassian integer(600)"])
  }

  @Test("Tokens are bound to a key, scopes separated by commas and named by a refresh where the provider wants that")
  func wants() throws {
    for name in Self.names {
      let preset = try Self.preset(name)
      let definition = try preset.definition(preset.questions.reduce(into: [:]) { $0[$1.name] = $1.example }).get()
      #expect(definition.usesDPoP == (name == "bluesky"), "\(name)")
      #expect((definition.scopeSeparator == .comma) == ["linear", "slack"].contains(name), "\(name)")
      #expect(definition.refreshNamesScope == ["entra", "microsoft"].contains(name), "\(name)")
    }
  }

  /// The rows of the table of docs/providers.md that begins with `head`.
  private static func rows(below head: String) throws -> [String] {
    let page = try #require(FileManager.default.contents(atPath: root + "/docs/providers.md"))
    let lines = String(decoding: page, as: UTF8.self).split(separator: "\n")
    return lines.drop { !$0.hasPrefix(head) }.dropFirst(2).prefix { $0.hasPrefix("|") }.map(String.init)
  }

  private static func row(_ cells: [String]) -> String {
    "|" + cells.map { $0.isEmpty ? " " : " \($0) " }.joined(separator: "|") + "|"
  }

  @Test("docs/providers.md tells what is known of each besides, as its file says")
  func facts() throws {
    let expected = try Self.names.sorted().compactMap { name -> String? in
      guard let facts = try Self.preset(name).facts else { return nil }
      let life = [
        facts.refreshTokenDays.map { "\($0) days" }, facts.refreshTokenIdleDays.map { "\($0) days without use" },
      ]
      return Self.row([
        "`\(name)`", (facts.sasl ?? []).map(\.rawValue).joined(separator: ", "),
        (facts.tokenAnswer ?? []).map { "`\($0.rawValue)`" }.joined(separator: ", "),
        facts.refreshTokens?.rawValue ?? "", life.compactMap(\.self).joined(separator: ", "),
      ])
    }
    #expect(try Self.rows(below: "| preset | mail |") == expected, Comment(rawValue: expected.joined(separator: "\n")))
  }

  @Test("docs/providers.md has a row for each, as its file says")
  func page() throws {
    let expected = try Self.names.sorted().map { name in
      let preset = try Self.preset(name)
      let definition = try preset.definition(preset.questions.reduce(into: [:]) { $0[$1.name] = $1.example }).get()
      let asked = preset.questions.map { "`\($0.name)`" + ($0.standard.map { " (\($0))" } ?? "") }
      let secret = definition.clientAuthentication.map { $0 == "none" ? "no" : "yes" } ?? "as registered"
      let redirect = try RedirectURI(definition.redirectURI)
      let cells = [
        "`\(name)`", preset.title, asked.joined(separator: ", "), secret,
        redirect.isLoopback && redirect.port == nil ? "any port" : "`\(definition.redirectURI)`",
        definition.authorizationEndpoint == nil
          ? "by metadata" : definition.deviceAuthorizationEndpoint == nil ? "no" : "yes",
        definition.reuseGraceSeconds.map { "\(Int($0)) s" } ?? "",
      ]
      return Self.row(cells)
    }
    let rows = try Self.rows(below: "| preset | provider |")
    #expect(rows == expected, Comment(rawValue: expected.joined(separator: "\n")))
  }
}
