import OAuthProtocol
import Sealing
import Testing

@Suite("ID tokens: whose they are (OpenID Connect Core 1.0 §3.1.3.7, §12.2)")
struct IDTokenExpectationTests {
  private static let accessToken = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"
  private static let plain = IDTokenExpectation(
    issuer: IDTokenText.issuer, isIssuerConfirmed: true, clientID: "dev", nonce: .any,
    accessToken: Secret(accessToken))

  private func problem(
    _ claims: [String: String?], header: String = #"{"alg":"RS256"}"#, after seconds: Int64 = 0,
    _ change: (inout IDTokenExpectation) -> Void = { _ in }
  ) throws -> IDTokenProblem? {
    var expectation = Self.plain
    change(&expectation)
    let token = try IDToken(Secret(IDTokenText.make(claims, header: header)))
    do throws(IDTokenProblem) {
      try expectation.check(token, now: IDTokenText.now + seconds)
      return nil
    } catch { return error }
  }

  @Test("another issuer is another login, and to the letter where metadata has confirmed the account's")
  func issuer() throws {
    for issuer in ["https://evil.example", "https://id.example/", "https://id.example/tenant", "id.example"] {
      let found = try problem(["iss": "\"\(issuer)\""])
      #expect(found == .issuer(shown: issuer) && found?.isOfAnotherLogin == true)
    }
    #expect(try problem(["iss": #""https://id.example/tenant""#]) { $0.isIssuerConfirmed = false } == nil)
    let stranger = try problem(["iss": #""https://evil.example""#]) { $0.isIssuerConfirmed = false }
    #expect(stranger == .unconfirmedIssuer(shown: "https://evil.example") && stranger?.isOfAnotherLogin == false)
    let google = "https://accounts.google.com"
    #expect(try problem(["iss": #""accounts.google.com""#]) { $0.issuer = google } == nil)
  }

  @Test("another audience or authorized party is another login; several audiences need the party")
  func audience() throws {
    for audience in [#""other""#, #"["other"]"#, #""de""#, #""dev ""#] {
      #expect(try problem(["aud": audience]) == .audience, "\(audience)")
    }
    #expect(try problem(["aud": #"["other","dev"]"#]) == .authorizedPartyMissing)
    #expect(try problem(["aud": #"["other","dev"]"#, "azp": #""dev""#]) == nil)
    #expect(try problem(["azp": #""other""#]) == .authorizedParty)
    #expect(IDTokenProblem.audience.isOfAnotherLogin && IDTokenProblem.authorizedParty.isOfAnotherLogin)
    #expect(!IDTokenProblem.authorizedPartyMissing.isOfAnotherLogin)
  }

  @Test("the nonce that was sent has to be there; another one is another login")
  func nonce() throws {
    #expect(try problem(["nonce": #""n-1""#]) { $0.nonce = .required("n-1") } == nil)
    #expect(try problem(["nonce": #""n-2""#]) { $0.nonce = .required("n-1") } == .nonce)
    let missing = try problem([:]) { $0.nonce = .required("n-1") }
    #expect(missing == .nonceMissing && missing?.isOfAnotherLogin == false)
    #expect(try problem(["nonce": #""n-1""#]) == nil)
  }

  @Test("a refresh may leave the nonce out and change no other, and stays the same person's")
  func refreshed() throws {
    #expect(try problem([:]) { $0.nonce = .same(as: "n-1") } == nil)
    #expect(try problem(["nonce": #""n-1""#]) { $0.nonce = .same(as: "n-1") } == nil)
    #expect(try problem(["nonce": #""n-1""#]) { $0.nonce = .same(as: nil) } == nil)
    #expect(try problem(["nonce": #""n-2""#]) { $0.nonce = .same(as: "n-1") } == .nonce)
    #expect(try problem([:]) { $0.subject = "alice" } == nil)
    #expect(try problem(["sub": #""mallory""#]) { $0.subject = "alice" } == .subject)
    #expect(try problem(["sub": "\"jose\u{301}\""]) { $0.subject = "jos\u{e9}" } == .subject)
    #expect(IDTokenProblem.subject.isOfAnotherLogin)
  }

  @Test("an issuer that repeats a secret, or looks like one, is not shown")
  func secrets() throws {
    let hidden = RequestSecrets([Secret("correct horse battery")])
    #expect(
      try problem(["iss": #""https://correct horse battery/""#]) { $0.secrets = hidden }
        == .issuer(shown: "https://\(RequestSecrets.mark)/"))
    #expect(try problem(["iss": #""rtyQXlayP599wMYXN15ooe0NuynT3sgB""#]) == .issuer(shown: "…"))
  }

  @Test("its time counts by the server's clock, give or take five minutes")
  func time() throws {
    #expect(try problem([:], after: 899) == nil)
    #expect(try problem([:], after: 900) == .expired)
    #expect(try problem([:], after: -300) == nil)
    #expect(try problem([:], after: -301) == .issuedInFuture)
  }

  @Test("auth_time is held to max_age where both are there")
  func maximumAge() throws {
    let then = "\(IDTokenText.now - 1_000)"
    #expect(try problem(["auth_time": then]) == nil)
    #expect(try problem(["auth_time": then]) { $0.maximumAgeSeconds = 700 } == nil)
    let old = try problem(["auth_time": then]) { $0.maximumAgeSeconds = 699 }
    #expect(old == .tooLongAgo(seconds: 1_000) && old?.isOfAnotherLogin == true)
    #expect(try problem([:]) { $0.maximumAgeSeconds = 0 } == nil)
  }

  /// OpenID Connect Core 1.0 appendix A.3 has this access token and its hash.
  @Test("at_hash is that of the access token beside it, where the algorithm is one of SHA-256")
  func accessTokenHash() throws {
    #expect(try problem(["at_hash": #""77QmUPtjPfzWtF2AnpK9RQ""#]) == nil)
    let other = try problem(["at_hash": #""77QmUPtjPfzWtF2AnpK9RA""#])
    #expect(other == .accessTokenHash && other?.isOfAnotherLogin == false)
    #expect(try problem(["at_hash": #""another""#], header: #"{"alg":"ES384"}"#) == nil)
    #expect(try problem(["at_hash": #""another""#], header: #"{"alg":"HS256"}"#) == .accessTokenHash)
  }

  @Test("what is said of a problem is one short line without control characters")
  func words() throws {
    let hostile = "https://evil.example/\u{1b}[2J" + String(repeating: "x", count: 1_000)
    let json = "\"" + hostile.replacing("\u{1b}", with: "\\u001b") + "\""
    let shown = "\(try #require(try problem(["iss": json])))"
    #expect(shown.count < 250 && !shown.unicodeScalars.contains { $0.value < 0x20 })
  }
}
