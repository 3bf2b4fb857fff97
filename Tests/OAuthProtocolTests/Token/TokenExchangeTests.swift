import HTTPTerms
import OAuthTerms
import Sealing
import Testing

@testable import OAuthProtocol

@Suite("Token exchange (RFC 8693)")
struct TokenExchangeTests {
  private static let prefix = TokenKind.prefix

  private func request(_ requested: String? = nil, actor: Bool = false) throws -> HTTPRequest {
    try TokenRequest(
      endpoint: WebURL("https://as.example/token"), client: OAuthClient(id: "app"),
      grant: .tokenExchange(
        subject: (Secret("s.t"), TokenKind.accessToken.uri), actor: actor ? (Secret("a.t"), TokenKind.jwt.uri) : nil,
        requestedType: requested), scope: ["read"], resources: ["https://api.example"]
    ).httpRequest()
  }

  @Test("the subject's token is sent with its type, the actor's beside it where there is one")
  func sent() throws {
    let subject = [
      "grant_type=urn:ietf:params:oauth:grant-type:token-exchange", "subject_token=s.t",
      "subject_token_type=urn:ietf:params:oauth:token-type:access_token",
    ]
    let rest = ["scope=read", "resource=https://api.example", "client_id=app"]
    #expect(try lines(request()) == subject + rest)
    #expect(
      try lines(request(TokenKind.jwt.uri, actor: true)) == subject + [
        "actor_token=a.t", "actor_token_type=urn:ietf:params:oauth:token-type:jwt",
        "requested_token_type=urn:ietf:params:oauth:token-type:jwt",
      ] + rest)
    #expect(TokenRequestGrant.tokenExchange.missing == .lentTokens)
  }

  private func verdict(_ requested: String?, _ issued: String?, _ type: String) throws -> String {
    let members =
      #""access_token":"t","token_type":"\#(type)""# + (issued.map { #","issued_token_type":"\#($0)""# } ?? "")
    let answer = HTTPAnswer(status: 200, headers: [], body: Secret("{\(members)}"))
    return TokenJudgement(judging: answer, to: try request(requested), now: 0).verdict.label
  }

  @Test("what was issued is what was asked for, or a token that resources take")
  func issued() throws {
    let (access, jwt, id) = (TokenKind.accessToken.uri, TokenKind.jwt.uri, TokenKind.idToken.uri)
    for requested in [nil, access, jwt] {
      for issued in [nil, access, jwt] { #expect(try verdict(requested, issued, "Bearer") == "granted") }
      for issued in [id, TokenKind.refreshTokenURI, "urn:x:y", Self.prefix + "id-jag"] {
        #expect(try verdict(requested, issued, "Bearer") == "unusable issued type")
      }
    }
    #expect(try verdict(id, id, "N_A") == "granted")
    #expect(try verdict(id, id, "Bearer") == "granted")
    #expect(try verdict(id, access, "Bearer") == "unusable issued type")
    #expect(try verdict(nil, access, "N_A") == "unusable type")
    #expect(try verdict(access, access, "N_A") == "unusable type")
    #expect(try verdict("urn:x:y", "urn:x:y", "N_A") == "granted")
  }

  @Test("an answer to another grant may name any issued type: nobody asked for one")
  func otherGrants() throws {
    let request = try TokenRequest(
      endpoint: WebURL("https://as.example/token"), client: OAuthClient(id: "app"), grant: .clientCredentials
    ).httpRequest()
    let body = Secret(#"{"access_token":"t","token_type":"Bearer","issued_token_type":"urn:x"}"#)
    let judged = TokenJudgement(judging: HTTPAnswer(status: 200, headers: [], body: body), to: request, now: 0)
    #expect(judged.verdict.label == "granted")
  }
}
