import AgentCore
import AgentWire
import OAuthProtocol
import OAuthTerms
import Testing

@testable import AgentRuntime

@Suite("Keys of an account that borrows other accounts' tokens, or has a grant of its own")
struct LentTokensReaderTests {
  private func read(_ lines: String...) -> Result<AccountDefinition, ConfigurationProblems> {
    let text = (["issuer = \"https://id.example\"", "client_id = \"abc\""] + lines).joined(separator: "\n")
    return FileConfiguration(folder: ConfigurationFolder(path: "/home/u/.config/oauthctl", home: "/home/u"), uid: 0)
      .readDefinition(name: "api", text: text)
  }

  private func problems(_ result: Result<AccountDefinition, ConfigurationProblems>) -> [String] {
    if case .failure(let failure) = result { failure.problems.compactMap(\.key) } else { [] }
  }

  @Test("The account that lends is enough; what its token is depends on the grant")
  func least() throws {
    let exchange = try read("grant = \"token_exchange\"", "subject_account = \"company\"").get()
    #expect(exchange.lent == LentTokens(subject: LentToken(account: "company", kind: .accessToken)))
    let assertion = try read("grant = \"id_jag\"", "subject_account = \"company\"").get()
    #expect(assertion.lent == LentTokens(subject: LentToken(account: "company", kind: .idToken)))
    #expect(assertion.grant == .identityAssertion)
  }

  @Test("Every key is read; a type is a word of RFC 8693, or any URI")
  func whole() throws {
    let lines = [
      "grant = \"token_exchange\"", "subject_account = \"company\"", "subject_token_type = \"jwt\"",
      "actor_account = \"robot\"", "actor_token_type = \"id_token\"",
    ]
    let base = LentTokens(
      subject: LentToken(account: "company", kind: .jwt), actor: LentToken(account: "robot", kind: .idToken))
    for (text, uri) in [
      ("jwt", "urn:ietf:params:oauth:token-type:jwt"), ("urn:x:y", "urn:x:y"),
      ("https://a.example/t", "https://a.example/t"),
    ] {
      var expected = base
      expected.requestedType = uri
      let all = (lines + ["requested_token_type = \"\(text)\""]).joined(separator: "\n")
      #expect(try read(all).get().lent == expected)
    }
  }

  @Test("What makes no such grant is named by its key")
  func refused() {
    let exchange = "grant = \"token_exchange\""
    let company = "subject_account = \"company\""
    #expect(problems(read(exchange)) == ["subject_account"])
    #expect(problems(read(exchange, "subject_account = \"api\"")) == ["subject_account"])
    #expect(problems(read(exchange, "subject_account = \"../x\"")) == ["subject_account"])
    #expect(problems(read(company)) == ["subject_account"])
    #expect(problems(read(exchange, company, "subject_token_type = \"refresh_token\"")) == ["subject_token_type"])
    #expect(problems(read(exchange, company, "actor_token_type = \"jwt\"")) == ["actor_token_type"])
    for type in ["refresh_token", "urn:ietf:params:oauth:token-type:refresh_token", "saml", "a b"] {
      #expect(
        problems(read(exchange, company, "requested_token_type = \"\(type)\"")) == ["requested_token_type"], "\(type)")
    }
    #expect(problems(read("grant = \"id_jag\"", company, "actor_account = \"robot\"")) == ["actor_account"])
    #expect(problems(read("grant = \"id_jag\"", company, "requested_token_type = \"jwt\"")) == ["requested_token_type"])
  }

  @Test("A grant of one's own has an absolute URI, and is none that there is")
  func extensions() throws {
    let own = try read("grant = \"extension\"", "grant_type = \"urn:x:y\"").get()
    #expect(own.grant == .extension && own.grantType == "urn:x:y" && own.lent == nil)
    #expect(problems(read("grant = \"extension\"")) == ["grant_type"])
    #expect(problems(read("grant_type = \"urn:x:y\"")) == ["grant_type"])
    for grant in GrantKind.allCases.compactMap(\.terms.type) + ["machine", "urn:x y", "urn:x#y"] {
      #expect(problems(read("grant = \"extension\"", "grant_type = \"\(grant)\"")) == ["grant_type"], "\(grant)")
    }
  }
}
