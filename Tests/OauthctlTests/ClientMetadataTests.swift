import AgentWire
import ArgumentParser
import Foundation
import OAuthTerms
import Testing

@testable import oauthctl

@Suite("The client metadata document")
struct ClientMetadataTests {
  @Test(
    "Its URL is https with a path, and nothing that a server may read otherwise",
    arguments: [
      "http://127.0.0.1/c.json", "https://example.com", "https://example.com/", "https://example.com/c#f",
      "https://example.com/c?v=1", "https://u@example.com/c", "https://example.com/a/../c", "https://example.com/%2e/c",
      "https://example.com/ c", "ftp://example.com/c", "mine", "",
      "https://example.com/" + String(repeating: "c", count: 1_024),
    ])
  func url(text: String) {
    #expect(ClientMetadata.problem(inURL: text) != nil)
    // A server may take one that is spelled oddly all the same.
    let isShared = ClientMetadata.sharesRedirect(clientID: text, redirectURI: "http://127.0.0.1/callback")
    #expect(
      isShared == (text.hasPrefix("https://") && text.dropFirst(8).contains("/") && text != "https://example.com/"))
  }

  @Test(
    "A client's id that browsers read as a document's URL counts as one, however it is spelled",
    arguments: [
      "https:/h/c", "https:h/c", "https:\\\\h/c", "https:/\\h\\c", " https://h/c", "ht\ttps://h/c", "\nHTTPS:///h/c",
    ])
  func spelling(id: String) {
    #expect(ClientMetadata.sharesRedirect(clientID: id, redirectURI: "http://127.0.0.1/callback"))
  }

  @Test("Plain http is told alike, on this machine or elsewhere", arguments: ["127.0.0.1", "example.com"])
  func plain(host: String) {
    #expect(ClientMetadata.problem(inURL: "http://\(host)/c.json") == "it must begin with https://")
  }

  @Test(
    "Its redirects are told from others, whatever their port",
    arguments: [
      ("http://127.0.0.1/callback", true), ("http://127.0.0.1:8914/callback", true),
      ("http://Localhost:1/callback", true), ("http://127.0.0.1/93446f4cade49d42/callback", false),
      ("http://127.0.0.1", false), ("http://[::1]/callback", true), ("http://127.0.0.2:7/callback/", true),
      ("https://127.0.0.1/callback", true), ("https://example.com/callback", false), ("http://127.0.0.1/cb", false),
      ("http://127.0.0.1/%63allback", true),
    ])
  func redirects(text: String, isShared: Bool) {
    #expect(ClientMetadata.problem(inURL: "https://example.com:8443/c") == nil)
    #expect(ClientMetadata.sharesRedirect(clientID: "https://example.com:8443/c", redirectURI: text) == isShared)
    #expect(!ClientMetadata.sharesRedirect(clientID: "mine", redirectURI: text))
  }

  @Test("What is printed is the document that servers expect of a native, public client")
  func document() throws {
    let page = Page()
    let url = "https://www.example.com/oauthctl.json"
    let command = try Oauthctl.parseAsRoot(["client-metadata", "--url", url])
    try (command as? ClientMetadataCommand)?.run(.scripted(page) { _ throws(CommandError) in throw .silent(status: 1) })
    let printed = try JSONSerialization.jsonObject(with: Data(page.output.utf8)) as? NSDictionary
    #expect(
      printed == [
        "client_id": url, "client_name": "oauthctl", "application_type": "native", "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "redirect_uris": ["http://127.0.0.1/callback", "http://localhost/callback"],
        "grant_types": [
          "authorization_code", "urn:ietf:params:oauth:grant-type:device_code", "refresh_token",
        ],
      ])
  }

  /// What the command prints for these options.
  private func printed(_ options: String...) throws -> NSDictionary? {
    let page = Page()
    let command = try Oauthctl.parseAsRoot(["client-metadata", "--url", "https://www.example.com/o/c.json"] + options)
    let context = CommandContext.scripted(page) { _ throws(CommandError) in
      var details = AccountDetails(
        summary: PretendedAgent().account, file: "", endpoints: [:], secrets: [], differences: [], problems: [],
        loggedInAt: nil, refreshedAt: nil, fingerprint: nil)
      details.publicKey = #"{"alg":"ES256","crv":"P-256","kid":"k","kty":"EC","x":"a","y":"b"}"#
      return details
    }
    try (command as? ClientMetadataCommand)?.run(context)
    return try JSONSerialization.jsonObject(with: Data(page.output.utf8)) as? NSDictionary
  }

  @Test("A redirect of one's own stands in it where a login would take it", arguments: [nil, "it is no such address"])
  func ownRedirect(reason: String?) throws {
    let page = Page()
    let (url, redirect) = ("https://www.example.com/c.json", "com.example.app:/cb")
    let context = CommandContext.scripted(page) { parameters throws(CommandError) in
      #expect((parameters as? AccountCheck)?.definition?.contains("redirect_uri = \"\(redirect)\"") == true)
      return AccountCheckAnswer(
        problems: reason.map { [ConfigurationProblem(file: "", line: 1, key: "redirect_uri", reason: $0)] } ?? [])
    }
    let command = try Oauthctl.parseAsRoot(["client-metadata", "--url", url, "--redirect-uri", redirect])
    do throws(CommandError) {
      try (command as? ClientMetadataCommand)?.run(context)
      #expect(reason == nil && page.output.contains(redirect))
    } catch {
      #expect(error.status == 64 && error.sentence == "--redirect-uri \(redirect): \(reason ?? "")")
    }
  }

  @Test("It says what a server wants that takes keys, bound tokens or one kind of login alone")
  func members() throws {
    let bound = try #require(
      try printed(
        "--dpop", "--grant", "code", "--redirect-uri", "http://127.0.0.1/callback", "--scope", "atproto a:b",
        "--client-uri", "https://www.example.com/o"))
    #expect(bound["dpop_bound_access_tokens"] as? Bool == true && bound["scope"] as? String == "atproto a:b")
    #expect(bound["grant_types"] as? [String] == ["authorization_code", "refresh_token"])
    #expect(bound["redirect_uris"] as? [String] == ["http://127.0.0.1/callback"])
    #expect(bound["client_uri"] as? String == "https://www.example.com/o" && bound["jwks"] == nil)
    #expect(try printed("--grant", "device")?["response_types"] as? [String] == [])

    let key = ["alg": "ES256", "crv": "P-256", "kid": "k", "kty": "EC", "x": "a", "y": "b"]
    let signing = try #require(try printed("--key", "work"))
    #expect(signing["token_endpoint_auth_method"] as? String == "private_key_jwt")
    #expect(signing["token_endpoint_auth_signing_alg"] as? String == "ES256")
    #expect((signing["jwks"] as? [String: [[String: String]]]) == ["keys": [key]])
    let served = try #require(try printed("--key", "work", "--jwks-uri", "https://www.example.com/keys.json"))
    #expect(served["jwks"] == nil && served["jwks_uri"] as? String == "https://www.example.com/keys.json")
    #expect(served["token_endpoint_auth_signing_alg"] as? String == "ES256")
  }

  @Test(
    "What a server would refuse is refused before the document is served",
    arguments: [
      ["--client-uri", "https://elsewhere.example/"], ["--client-uri", "https://www.example.com/other/"],
      ["--client-uri", "https://www.example.com/o/c"], ["--client-uri", "javascript:alert(1)"],
      ["--redirect-uri", "http://127.0.0.1/other"], ["--grant", "password"],
      ["--jwks-uri", "http://www.example.com/k"], ["--key", "../x"],
    ])
  func refused(options: [String]) {
    #expect(throws: CommandError.self) { try printed(options[0], options[1]) }
  }

  @Test(
    "A text of config.toml is read where it stands whole on its line",
    arguments: [
      ("a = \"b\"", "b"), ("  a='b' # c", "b"), ("a = 1", nil), ("a = \"b", nil), ("a = \"b\\\"\"", nil),
      ("b = \"a\"", nil),
      ("# a = \"b\"", nil),
    ] as [(String, String?)])
  func setting(line: String, text: String?) {
    #expect(SettingsText("x = 1\n" + line + "\n").text(of: "a") == text)
  }
}
