import FoundationEssentials
import Sealing
import Testing

@testable import AgentCore
@testable import OAuthProtocol

@Suite("Who has logged in, after a refresh")
struct IdentityTests {
  private static func token(
    _ subject: String = "alice", issuer: String = "https://login.example.com", nonce: String? = nil,
    user: String? = nil
  ) -> String {
    var claims =
      "\"iss\":\"\(issuer)\",\"aud\":\"client\",\"sub\":\"\(subject)\",\"exp\":1700003600,\"iat\":1700000000"
    if let nonce { claims += ",\"nonce\":\"\(nonce)\"" }
    if let user { claims += ",\"preferred_username\":\"\(user)\"" }
    return [#"{"alg":"ES256"}"#, "{\(claims)}"].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
      + ".c2ln"
  }

  private static func granted(_ idToken: String?, _ accessToken: String = "a2") -> TokenCallEnd {
    .answered(
      TokenJudgement(
        salvagedRefreshToken: Secret("r2"),
        verdict: .granted(
          TokenResponse(
            accessToken: Secret(accessToken), tokenType: .bearer, lifetime: .seconds(3_600), scope: nil,
            refreshToken: nil,
            refreshTokenLifetimeSeconds: nil, idToken: idToken.map { Secret($0) })),
        serverDateSeconds: nil))
  }

  private func identity(_ idToken: String) throws -> IdentityRecord {
    IdentityRecord(try IDToken(Secret(idToken)), hiding: RequestSecrets([]))
  }

  /// What is kept when a refresh has brought `idToken`.
  private func refreshed(
    before: String?, _ idToken: String?, key: TokenKey = .standard
  ) throws -> (identity: IdentityRecord?, driver: MachineDriver) {
    let known = try before.map { try identity($0) }
    let driver = MachineDriver(.expired().with { $0.grant?.identity = known })
    let id = driver.ask(key)
    driver.saved()
    driver.endsDurably(Self.granted(idToken))
    #expect(driver.token(id) == "a2", "the token is served, whatever became of the ID token")
    #expect(driver.durable?.refreshToken == "r2", "the login is never lost over a claim")
    return (driver.durable?.grant?.identity, driver)
  }

  @Test("a refresh's ID token takes the place of the one before")
  func replaced() throws {
    let new = Self.token(user: "al")
    let kept = try refreshed(before: Self.token(nonce: "n"), new).identity
    #expect(kept?.idToken.secret == Secret(new) && kept?.who == "al" && kept?.concern == nil && kept?.isLast == nil)
  }

  @Test(
    "one of somebody else, of another issuer or with another nonce is not taken, and that is told",
    arguments: [
      IdentityTests.token("mallory"), IdentityTests.token(issuer: "https://evil.example"),
      IdentityTests.token(nonce: "other"), "no token",
    ])
  func refused(stranger: String) throws {
    let before = Self.token(nonce: "n")
    let kept = try refreshed(before: before, stranger).identity
    #expect(kept?.idToken.secret == Secret(before) && kept?.subject == "alice" && kept?.isLast == true)
    #expect(kept?.concern?.hasPrefix("the ID token of the last refresh ") == true)
  }

  @Test("a refresh without one keeps the one before; one for other scopes says nothing about the next")
  func leftOut() throws {
    let before = Self.token()
    #expect(try refreshed(before: before, nil).identity?.isLast == true)
    let other = try refreshed(before: before, nil, key: TokenKey(scope: ["write"])).identity
    #expect(other?.idToken.secret == Secret(before) && other?.isLast == nil)
  }

  @Test("a login from before this was kept learns who it is with its next refresh")
  func learned() throws {
    #expect(try refreshed(before: nil, Self.token()).identity?.who == "alice")
    #expect(try refreshed(before: nil, Self.token(issuer: "https://evil.example")).identity == nil)
  }

  @Test("who it is counts by issuer and subject, byte by byte, and not by the name that is shown")
  func endUser() {
    let alice = EndUser(issuer: "https://id.example", subject: "\u{E9}", who: "alice")
    #expect(alice.isSame(as: EndUser(issuer: "https://id.example", subject: "\u{E9}", who: "another name")))
    #expect(alice.isSame(as: EndUser(issuer: "id.example", subject: "\u{E9}")), "Google may leave the scheme out")
    #expect(!alice.isSame(as: EndUser(issuer: "https://id.example", subject: "e\u{301}", who: "alice")))
    #expect(!alice.isSame(as: EndUser(issuer: "https://other.example", subject: "\u{E9}", who: "alice")))
  }

  @Test("what is kept of it survives the vault, and of two servers nobody can tell")
  func record() throws {
    let alice = try identity(Self.token())
    func isAnother(_ token: String, at issuer: String = DefinitionBinding.plain.issuer) throws -> Bool {
      let before = AccountRecord.loggedIn().with { $0.grant?.identity = alice }
      var after = try #require(before.grant)
      after.identity = try identity(token)
      after.binding.issuer = issuer
      return after.isOfAnother(than: try #require(before.grant))
    }
    #expect(try isAnother(Self.token("bob")))
    #expect(try !isAnother(Self.token(user: "another name")))
    // Of one server that vouches for several: each subject is its issuer's.
    #expect(try isAnother(Self.token(issuer: "https://other.example")))
    #expect(try !isAnother(Self.token("bob", issuer: "https://other.example"), at: "https://other.example"))
    let record = AccountRecord.loggedIn().with { $0.grant?.identity = alice }
    #expect(try JSONDecoder().decode(AccountRecord.self, from: try JSONEncoder().encode(record)) == record)
  }
}
