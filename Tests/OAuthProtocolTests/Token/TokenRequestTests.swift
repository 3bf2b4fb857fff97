import HTTPTerms
import OAuthProtocol
import Sealing
import Testing

@Suite struct TokenRequestTests {
  private func request(_ grant: TokenRequestGrant) throws -> TokenRequest {
    TokenRequest(endpoint: try WebURL("https://as.example/token?x=1"), client: try OAuthClient(id: "app"), grant: grant)
  }

  @Test(
    "each grant sends what its RFC says and nothing else",
    arguments: [
      (
        .authorizationCode(Secret("c/1"), redirectURI: "http://127.0.0.1:5/cb", codeVerifier: Secret("v")),
        ["grant_type=authorization_code", "code=c/1", "redirect_uri=http://127.0.0.1:5/cb", "code_verifier=v"]
      ),
      (.refreshToken(Secret("r+&=")), ["grant_type=refresh_token", "refresh_token=r+&="]),
      (.clientCredentials, ["grant_type=client_credentials"]),
      (
        .password(username: "jo", password: Secret("pä ss")),
        ["grant_type=password", "username=jo", "password=pä ss"]
      ),
      (
        .jwtBearer.with(assertion: Secret("a.b.c")),
        ["grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion=a.b.c"]
      ),
      (.extension("urn:x:grant"), ["grant_type=urn:x:grant"]),
      (
        .deviceCode(Secret("d")),
        ["grant_type=urn:ietf:params:oauth:grant-type:device_code", "device_code=d"]
      ),
    ] as [(TokenRequestGrant, [String])])
  func grants(grant: TokenRequestGrant, expected: [String]) throws {
    let http = try request(grant).httpRequest()
    #expect(http.url == "https://as.example/token?x=1")
    #expect(try lines(http) == expected + ["client_id=app"])
  }

  @Test("scope, resource, audience and extra parameters follow")
  func extras() throws {
    var request = try request(.refreshToken(Secret("r")))
    request.scope = ["a", "b"]
    request.resources = ["https://x/1", "https://x/2"]
    request.audiences = ["aud"]
    request.extra = [ExtraParameter("assertion_x", "1")]
    #expect(
      try lines(request.httpRequest()) == [
        "grant_type=refresh_token", "refresh_token=r", "scope=a b", "resource=https://x/1", "resource=https://x/2",
        "audience=aud", "assertion_x=1", "client_id=app",
      ])
  }

  @Test("scopes are separated by commas for the servers that want that")
  func separator() throws {
    var request = try request(.clientCredentials)
    (request.scope, request.scopeSeparator) = (["a", "b"], .comma)
    #expect(try lines(request.httpRequest()) == ["grant_type=client_credentials", "scope=a,b", "client_id=app"])
    #expect(ScopeSeparator.comma.split(["a,b", "b", "c,"]) == ["a", "b", "c"])
    #expect(ScopeSeparator.blank.split(["a,b"]) == ["a,b"])
  }

  @Test(
    "what the protocol sets cannot be overridden",
    arguments: [
      "grant_type", "client_id", "client_secret", "client_assertion", "client_assertion_type", "assertion", "code",
      "code_verifier",
      "redirect_uri", "refresh_token", "username", "password", "device_code", "scope", "subject_token",
      "subject_token_type", "actor_token", "actor_token_type", "requested_token_type",
    ])
  func reserved(name: String) throws {
    var request = try request(.clientCredentials)
    request.extra = [ExtraParameter(name, "x")]
    #expect(throws: ProtocolError.reservedParameter(name)) { try request.httpRequest() }
  }

  @Test("a request shows none of its secrets when printed")
  func printing() throws {
    let request = try TokenRequest(
      endpoint: WebURL("https://h/t"), client: OAuthClient(id: "app", authentication: .post(Secret("CLIENTSECRET"))),
      grant: .refreshToken(Secret("REFRESHSECRET")))
    var dumped = ""
    dump(request, to: &dumped)
    dump(try request.httpRequest(), to: &dumped)
    #expect(!dumped.contains("SECRET"))
  }
}
