import AgentCore
import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing
import Testing

@testable import AgentRuntime

@Suite("Account definitions")
struct DefinitionTests {
  private static let folder = ConfigurationFolder(path: "/home/u/.config/oauthctl", home: "/home/u")
  private static let base = "issuer = \"https://id.example\"\nclient_id = \"abc\"\n"

  private func read(_ text: String) -> Result<AccountDefinition, ConfigurationProblems> {
    FileConfiguration(folder: Self.folder, uid: 0).readDefinition(name: "work", text: text)
  }

  private func problems(_ text: String) -> [ConfigurationProblem] {
    if case .failure(let failure) = read(text) { failure.problems } else { [] }
  }

  @Test("Two keys make an account; everything else has its default")
  func least() throws {
    let expected = AccountDefinition(
      name: "work", file: "/home/u/.config/oauthctl/accounts.d/work.toml", issuer: "https://id.example",
      clientID: "abc")
    var definition = try read(Self.base).get()
    #expect(definition.textDigest == Hex.encode(Digest.sha256(Self.base.utf8)))
    definition.textDigest = nil
    #expect(definition == expected)
  }

  @Test("Every key is read")
  func everyKey() throws {
    let text = """
      issuer = "https://id.example/realms/x"   # trailing comment
      client_id = 'a b'
      grant = "device_code"
      client_authentication = "client_secret_post"
      assertion_audience = "token_endpoint"
      scope = "read write"
      allowed_scope = ["admin,sudo"]
      scope_separator = ","
      resource = "https://api.example/"
      audience = ["api", "other"]
      redirect_uri = "http://127.0.0.1:8914/cb"
      hosts = ["git.example", "https://api.example:8443"]
      authorization_endpoint = "https://id.example/auth"
      token_endpoint = "https://id.example/token"
      device_authorization_endpoint = "https://id.example/device"
      revocation_endpoint = "https://id.example/revoke"
      pushed_authorization_request_endpoint = "https://id.example/par"
      username = "jo"
      proxy = "http://proxy.example:3128"
      keep = "always"
      git_username = "x-token-auth"
      refresh_revokes_access_token = true
      refresh_scope = true
      ambiguous_retry = "never"
      token_parameters = { tenant = "1" }

      [authorize_parameters]
      prompt = "login"
      "login hint" = "no"
      """
    let spoiled = problems(text)
    #expect(spoiled.map(\.key) == ["authorize_parameters.login hint"])
    var definition = try read(text.replacing("\"login hint\"", with: "login_hint")).get()
    definition.textDigest = nil
    var expected = AccountDefinition(
      name: "work", file: "/home/u/.config/oauthctl/accounts.d/work.toml", issuer: "https://id.example/realms/x",
      clientID: "a b", grant: .deviceCode, clientAuthentication: "client_secret_post",
      assertionAudience: .tokenEndpoint,
      scope: ["read", "write"],
      allowedScope: ["admin", "sudo"], resource: ["https://api.example/"], audience: ["api", "other"],
      redirectURI: "http://127.0.0.1:8914/cb", hosts: ["git.example", "https://api.example:8443"],
      authorizationEndpoint: "https://id.example/auth", tokenEndpoint: "https://id.example/token",
      deviceAuthorizationEndpoint: "https://id.example/device", revocationEndpoint: "https://id.example/revoke",
      pushedAuthorizationRequestEndpoint: "https://id.example/par",
      username: "jo", authorizeParameters: ["prompt": "login", "login_hint": "no"], tokenParameters: ["tenant": "1"],
      proxy: "http://proxy.example:3128", keep: .always, gitUsername: "x-token-auth",
      refreshRevokesAccessToken: true, ambiguousRetry: .never)
    expected.refreshNamesScope = true
    expected.scopeSeparator = .comma
    #expect(definition == expected)
  }

  @Test("More than 256 scopes are refused, however they are separated", arguments: ["scope", "allowed_scope"])
  func scopes(_ key: String) throws {
    func pairs(_ count: Int) -> String { "[" + (0..<count).map { "\"a\($0),b\($0)\"" }.joined(separator: ",") + "]" }
    let commas = Self.base + "scope_separator = \",\"\n"
    let most = try read(commas + "\(key) = \(pairs(128))\n").get()
    #expect((key == "scope" ? most.scope : most.allowedScope).count == 256)
    let told = problems(commas + "\(key) = \(pairs(129))\n")
    #expect(told.map(\.reason) == ["it has 258 scopes between its commas, more than 256"])
    #expect(told.first?.key == key && told.first?.line == 4)
    #expect(problems(Self.base + "\(key) = \(pairs(257))\n").map(\.reason) == ["it has 257 entries, more than 256"])
  }

  @Test("A redirect on https with its certificate is listened at, on one port or on several")
  func secureRedirect() throws {
    let files = "redirect_cert_file = \"/c.pem\"\nredirect_key_file = \"~/k.pem\"\n"
    for rest in [
      "redirect_uri = \"https://localhost:8443/cb\"",
      "redirect_uri = \"https://localhost/cb\"\nredirect_ports = [8443, 8444]",
    ] {
      let definition = try read(Self.base + files + rest).get()
      #expect(definition.redirectIdentity == RedirectIdentityFiles(certificate: "/c.pem", key: "/home/u/k.pem"))
      #expect(try definition.redirect().certifiedHost == "localhost")
    }
  }

  @Test("Every known key is read by the definition reader")
  func knownKeys() {
    // A key that the list names but nobody reads would be accepted and do nothing: each must refuse a date.
    for key in DefinitionReader.known {
      let found = problems("\(key) = 2000-01-01\n")
      #expect(found.contains { $0.key == key && $0.line == 1 && $0.reason.contains("a date or time") }, "\(key)")
    }
  }

  struct Bad: Sendable, CustomTestStringConvertible {
    var line: String
    var key: String
    var reason: String
    var testDescription: String { line }

    init(_ line: String, _ key: String, _ reason: String) {
      self.line = line
      self.key = key
      self.reason = reason
    }
  }

  @Test(
    "A bad key is named with file, line, key and reason",
    arguments: [
      Bad("grant = \"implicit\"", "grant", "use grant = \"authorization_code\""),
      Bad("grant = \"token\"", "grant", "RFC 9700"),
      Bad("grant = \"Implicit\"", "grant", "RFC 9700"),
      Bad("grant = \"authorization-code\"", "grant", "did you mean \"authorization_code\"?"),
      Bad("grant = 1", "grant", "it is an integer, but must be a string in quotes"),
      Bad("grant = \"\"", "grant", "it is empty"),
      Bad("client_secret = \"x\"", "client_secret", "oauthctl secret set work client_secret"),
      Bad("client-secret = \"x\"", "client-secret", "oauthctl secret set work client_secret"),
      Bad("password = \"x\"", "password", "oauthctl secret set work password"),
      Bad("refresh_token = \"x\"", "refresh_token", "oauthctl secret set work refresh_token"),
      Bad("access_token = \"x\"", "access_token", "oauthctl login work"),
      Bad("[token_parameters]\nclient_secret = \"x\"", "token_parameters.client_secret", "oauthctl secret set"),
      Bad("[authorize_parameters]\nstate = \"x\"", "authorize_parameters.state", "the protocol sets it"),
      Bad("[authorize_parameters]\nmax_age = \"1e3\"", "authorize_parameters.max_age", "whole number of seconds"),
      Bad("[authorize_parameters]\nmax_age = \"-1\"", "authorize_parameters.max_age", "whole number of seconds"),
      Bad(
        "[authorize_parameters]\ncode_challenge_method = \"plain\"", "authorize_parameters.code_challenge_method",
        "the protocol sets it"),
      Bad("[token_parameters]\ngrant_type = \"x\"", "token_parameters.grant_type", "the protocol sets it"),
      Bad("[token_parameters]\na = 1", "token_parameters.a", "must be a string"),
      Bad("token_parameters = \"a=b\"", "token_parameters", "must be a table: [token_parameters]"),
      Bad("scopes = \"x\"", "scopes", "did you mean scope?"),
      Bad("redirect_url = \"x\"", "redirect_url", "did you mean redirect_uri?"),
      Bad("clientid = \"x\"", "clientid", "did you mean client_id?"),
      Bad("host = [\"x\"]", "host", "did you mean hosts?"),
      Bad("colour = \"x\"", "colour", "there is no such key (docs/configuration.md lists them)"),
      Bad("scope = 5", "scope", "must be a string or an array of strings"),
      Bad("scope = [\"a\", 5]", "scope", "it holds an integer"),
      Bad("scope = [\"a b\"]", "scope", "holds a blank"),
      Bad("scope = \"a\\\\b\"", "scope", "backslash"),
      Bad("hosts = [\"https://x.example/path\"]", "hosts", "it holds a path"),
      Bad("hosts = [\"http://x.example\"]", "hosts", "use https://"),
      Bad("hosts = [\"*.example\"]", "hosts", "not a plain host name"),
      Bad("redirect_uri = \"http://example.com/cb\"", "redirect_uri", "http:// is accepted on"),
      Bad("redirect_uri = \"myapp://cb\"", "redirect_uri", "loopback"),
      Bad("redirect_uri = \"http://127.0.0.1/cb#x\"", "redirect_uri", "fragment"),
      Bad("redirect_cert_file = \"/c\"", "redirect_cert_file", "of no use without redirect_key_file"),
      Bad("redirect_key_file = \"/k\"", "redirect_key_file", "of no use without redirect_cert_file"),
      Bad("redirect_cert_file = \"c\"\nredirect_key_file = \"/k\"", "redirect_cert_file", "an absolute path"),
      Bad(
        "redirect_cert_file = \"/c\"\nredirect_key_file = \"/k\"\nredirect_uri = \"http://localhost:8443/cb\"",
        "redirect_cert_file", "for an https redirect_uri on this machine"),
      Bad(
        "redirect_cert_file = \"/c\"\nredirect_key_file = \"/k\"\nredirect_uri = \"https://app.example:8443/cb\"",
        "redirect_cert_file", "https://localhost:8443/callback"),
      Bad(
        "redirect_cert_file = \"/c\"\nredirect_key_file = \"/k\"\nredirect_uri = \"https://localhost/cb\"",
        "redirect_cert_file", "names its port"),
      Bad("redirect_ports = 8400", "redirect_ports", "an array of ports"),
      Bad("redirect_ports = []", "redirect_ports", "1 to 16 ports"),
      Bad("redirect_ports = [0]", "redirect_ports", "from 1 to 65535"),
      Bad("redirect_ports = [\"8400\"]", "redirect_ports", "from 1 to 65535"),
      Bad("redirect_ports = [8400, 8400]", "redirect_ports", "once"),
      Bad("redirect_uri = \"http://127.0.0.1:1/c\"\nredirect_ports = [8400]", "redirect_ports", "names no port"),
      Bad("redirect_uri = \"https://app.example/c\"\nredirect_ports = [8400]", "redirect_ports", "names no port"),
      Bad("token_endpoint = \"http://id.example/token\"", "token_endpoint", "use https://"),
      Bad("token_endpoint = \"https://u:hunter2@id.example/\"", "token_endpoint", "user name or password"),
      Bad("resource = \"relative\"", "resource", "not an absolute URI"),
      Bad("proxy = \"proxy.example:3128\"", "proxy", "write it as http://HOST:PORT"),
      Bad("proxy = \"http://proxy.example\"", "proxy", "it has no port"),
      Bad("[token_parameters]\npassword = \"x\"", "token_parameters.password", "secrets do not belong"),
      Bad("[token_parameters]\nAPI-Key = \"x\"", "token_parameters.API-Key", "secrets do not belong"),
      Bad("[token_parameters]\npin = \"1\"", "token_parameters.pin", "secrets do not belong"),
      Bad("proxy = \"http://u:hunter2@proxy.example:1\"", "proxy", "secrets do not belong"),
      Bad("proxy = \"ftp://proxy.example:1\"", "proxy", "its scheme is not known"),
      Bad("keep = \"in_use\"", "keep", "did you mean \"in-use\"?"),
      Bad("client_authentication = \"tls_client\"", "client_authentication", "is none of \"none\""),
      Bad("git_username = \"a:b\"", "git_username", "colon"),
      Bad("username = \"a\\nb\"", "username", "control character"),
      Bad("refresh_revokes_access_token = \"yes\"", "refresh_revokes_access_token", "must be true or false"),
      Bad("ambiguous_retry = \"twice\"", "ambiguous_retry", "is none of \"once\", \"never\""),
      Bad("ca_file = \"ca.pem\"", "ca_file", "absolute path"),
      Bad("ca_file = \"/nonexistent/ca.pem\"", "ca_file", "/nonexistent/ca.pem does not exist"),
    ])
  func badKey(_ bad: Bad) {
    // Two good lines and a comment first; a table's key stands on its second line.
    let before = bad.line.split(separator: "\n").firstIndex { $0.hasPrefix("\(bad.key) ") }
    let found = problems(Self.base + "# note\n" + bad.line + "\n")
    #expect(found.count == 1)
    #expect(found.first?.file == "/home/u/.config/oauthctl/accounts.d/work.toml")
    #expect(found.first?.line == 4 + (before ?? (bad.line.contains("\n") ? 1 : 0)))
    #expect(found.first?.key == bad.key)
    #expect(found.first?.reason.contains(bad.reason) == true, "\(found.first?.reason ?? "nothing")")
    #expect(found.first?.reason.contains("hunter2") == false)
  }

  @Test(
    "A required key that is missing or bad is named",
    arguments: [
      ("client_id = \"a\"\n", "issuer", nil, "it is missing"),
      ("issuer = \"https://id.example\"\n", "client_id", nil, "it is missing"),
      ("client_id = \"a\"\nissuer = \"http://id.example\"\n", "issuer", 2, "use https://"),
      ("client_id = \"a\"\nissuer = \"https://id.example/?x\"\n", "issuer", 2, "query"),
      ("client_id = \"é\"\nissuer = \"https://id.example\"\n", "client_id", 1, "printable ASCII"),
    ] as [(String, String, Int?, String)])
  func required(_ text: String, _ key: String, _ line: Int?, _ reason: String) {
    let found = problems(text)
    #expect(found.map(\.key) == [key])
    #expect(found.first?.line == line)
    #expect(found.first?.reason.contains(reason) == true)
  }

  @Test("All problems are told at once, in the order of their lines")
  func all() {
    let found = problems("keep = 1\n\nscopes = \"x\"\nissuer = \"nonsense\"\nclient_id = \"a\"\npassword = \"x\"\n")
    #expect(found.map(\.line) == [1, 3, 4, 6])
    #expect(found.map(\.key) == ["keep", "scopes", "issuer", "password"])
  }

  @Test(
    "What is no TOML is refused with its line",
    arguments: [
      ("issuer = \"https://id.example\"\nclient_id = \n", 2), ("a = 1\na = 2\n", 2), ("=\n", 1), ("a = \"x\n", 1),
      ("a = 1\n\n[t\n", 3), ("a = 1\nb = \"\\u0000\"\n", 2), ("a = [1,\n2\n", nil),
    ] as [(String, Int?)])
  func syntax(_ text: String, _ line: Int?) {
    let found = problems(text)
    #expect(found.count == 1)
    #expect(found.first?.key == nil)
    if let line { #expect(found.first?.line == line) }
    #expect(found.first?.line != nil)
  }

  @Test("Deeply nested text is refused without harm", arguments: [64, 300, 20_000])
  func nesting(_ depth: Int) {
    let found = problems(
      Self.base + "scope = " + String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
    #expect(found.count == 1)
  }

  @Test("A text larger than 64 KiB is refused")
  func tooLarge() {
    let found = problems(Self.base + "#" + String(repeating: "x", count: 64 << 10))
    #expect(found.map(\.reason) == ["the file is larger than 65536 bytes"])
  }

  @Test(
    "A name that is no account name is refused",
    arguments: [
      "", "Work", "../work", "a/b", ".hidden", "-a", "é", "a b", String(repeating: "a", count: 64), "a\u{1b}",
    ])
  func names(_ name: String) {
    guard
      case .failure(let failure) = FileConfiguration(folder: Self.folder, uid: 0).readDefinition(
        name: name, text: Self.base)
    else {
      Issue.record("accepted")
      return
    }
    #expect(failure.problems.map(\.reason) == [AccountFileName.rule])
    #expect(failure.problems.allSatisfy { !$0.file.contains("\u{1b}") })
  }
}
