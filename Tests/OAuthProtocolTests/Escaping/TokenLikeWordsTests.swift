import HTTPTerms
import Sealing
import Testing

@testable import OAuthProtocol

@Suite("words of a server that look like a token")
struct TokenLikeWordsTests {
  /// What servers really say, as they say it.
  static let kept = [
    "Token has been expired or revoked.", "Bad Request", "Malformed auth code.",
    "You can't sign in because Client sent an invalid request. For more details, see https://developers.google.com/identity/protocols/oauth2/policies#secure-response-handling",
    "Access Not Configured. Enable it by visiting https://console.developers.google.com/apis/api/drive.googleapis.com/overview?project=123456789012 then retry.",
    "The refresh token is invalid or expired.", "The client secret supplied for a confidential client is invalid.",
    "PKCE verification failed.",
    "'redirect_uri' does not match https://dev-78901234.okta.com/oauth2/default/v1/callback",
    "The code passed is incorrect or expired.",
    "The client_id and/or client_secret passed are incorrect. https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors/#incorrect-client-credentials",
    "Unknown or invalid refresh token.", "Session not active", "Invalid client or Invalid client credentials",
    "expired access/refresh token", "Token is not active",
    "AccessToken, OAuthException, GitHub or LinkedIn; iPhone, OAuth2, ES256, OAuth2AuthenticationException",
    "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.",
    "AADSTS700082: The refresh token has expired due to inactivity. The token was issued on 2024-11-25T13:48:51.1234567Z and was inactive for 90.00:00:00.",
    "AADSTS50076: Due to a configuration change made by your administrator, or because you moved to a new location, you must use multi-factor authentication to access 'https://graph.microsoft.com/.default'. Timestamp: 2024-05-12 18:09:25Z",
    "urn:ietf:params:oauth:grant-type:device_code is not allowed; see login.microsoftonline.com/common/oauth2/v2.0/token",
    "Zugriff verweigert: Nutzer jane.doe1984@example.com, Versuch 3 von 5 (192.168.100.20:8443)", "アクセスが拒否されました",
    "org.springframework.security.authentication.InternalAuthenticationServiceException at 18:09:25",
  ]

  @Test("what servers say stays as it is", arguments: kept)
  func stays(text: String) {
    #expect(RequestSecrets([Secret("hunter2hunter2")]).cut(from: text) == text)
  }

  @Test(
    "identifiers and tokens of any request are left out of it",
    arguments: [
      (
        "AADSTS7000215: Invalid client secret provided. Trace ID: 0d2b7ee1-5b5e-4d8a-9a66-1ba2f4d10900 Correlation ID: 7f9c1f3e-6c2b-4f0e-8f6b-2d9f1f1a7c11 Timestamp: 2024-05-12 18:09:25Z",
        "AADSTS7000215: Invalid client secret provided. Trace ID: … Correlation ID: … Timestamp: 2024-05-12 18:09:25Z"
      ),
      (
        "AADSTS700016: Application with identifier '6731de76-14a6-49ae-97bc-6eba6914391e' was not found",
        "AADSTS700016: Application with identifier '…' was not found"
      ),
      ("Invalid refresh token: 1f0f9e5a-93bd-4c21-8dc0-2d4f2f7c7f0e", "Invalid refresh token: …"),
      ("Invalid token (expired): eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln", "Invalid token (expired): …"),
      ("see https://help.example/errors?trace=oae8tmnFYWSmuLZ5qL1YqEXA", "see https://help.example…"),
      ("see https://0d2b7ee15b5e4d8a9a661ba2.example/", "see …"),
      ("NB2W45DFOIZCC is wrong", "… is wrong"), ("=68=75=6E=74=65=72=32=21", "…"),
      ("N\u{200B}B2W\u{301}45D\u{0}FOIZCC", "…"),
    ])
  func leftOut(text: String, shown: String) { #expect(RequestSecrets([]).cut(from: text) == shown) }

  @Test("what a request says openly may be repeated")
  func publicWords() throws {
    let id = "6731de76-14a6-49ae-97bc-6eba6914391e"
    for authentication in [ClientAuthentication.basic(Secret("s3cret")), .post(Secret("s3cret"))] {
      let request = try TokenRequest(
        endpoint: try WebURL("https://as.example/oauth2/aus1a2b3c4d5e6f7g8h9/v1/token"),
        client: OAuthClient(id: id, authentication: authentication),
        grant: .refreshToken(Secret("Rw7zQ2x9Kd4mB1vN"))
      ).httpRequest()
      let text = "app '\(id)': https://as.example/oauth2/aus1a2b3c4d5e6f7g8h9/v1/token. Not \(id.reversed())"
      #expect(RequestSecrets(of: request).cut(from: text) == text.replacing(String(id.reversed()), with: "…"))
    }
  }

  static let secrets = ["refresh-token-Rw7zQ2x9Kd4mB1vN", "correct horse battery staple", "hunter2!x"]

  /// Spellings that nobody looks for by name.
  static func encodings(_ secret: String) -> [String] {
    let wide = secret.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    let pairs = Array(secret.utf8) + (secret.utf8.count % 2 == 0 ? [] : [0x2E])
    func taken(_ first: Int) -> String {
      let units = stride(from: 0, to: pairs.count, by: 2).map {
        UInt16(pairs[$0 + first]) << 8 | UInt16(pairs[$0 + 1 - first])
      }
      return String(decoding: units, as: UTF16.self)
    }
    return [
      base32(secret.utf8), base32(secret.utf8).lowercased(), Base64URL.encode(Base64URL.encode(secret.utf8).utf8),
      Base64URL.encode(wide), wide.map(RequestSecretsTests.hex).joined(), taken(0), taken(1),
      secret.utf8.map { "=" + RequestSecretsTests.hex($0).uppercased() }.joined(),
      secret.map { "\($0)\u{0}" }.joined(), Base64URL.encode(secret.utf8.reversed()),
    ]
  }

  private static func base32(_ bytes: some Sequence<UInt8>) -> String {
    let bits = bytes.map { byte in
      let digits = String(byte, radix: 2)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    var text = ""
    var rest = bits[...]
    while !rest.isEmpty {
      let group = rest.prefix(5) + String(repeating: "0", count: 5 - rest.prefix(5).count)
      text.append(alphabet[Int(group, radix: 2) ?? 0])
      rest = rest.dropFirst(5)
    }
    return text
  }

  @Test(
    "a secret in another encoding is told neither by words, nor as an error code, nor in an address",
    arguments: secrets)
  func encoded(secret: String) throws {
    let body = Secret("refresh_token=\(secret.replacing(" ", with: "+"))")
    let request = HTTPRequest(.post, "https://as.example/", body: body)
    let secrets = RequestSecrets(of: request)
    for spelling in Self.encodings(secret) {
      let shown = secrets.cut(from: "no: \(spelling) behind").replacing(RequestSecrets.mark, with: "…")
      #expect(shown.contains("…") && shown.filter { $0.isLetter || $0.isNumber } == "nobehind", "\(spelling): \(shown)")
      for code in ["x_\(spelling)", spelling] {
        #expect(OAuthError(code: String(code.prefix(128)), hiding: secrets) == nil, "\(spelling)")
      }
      #expect(secrets.mayBe(in: "https://as.example/\(spelling)"), "\(spelling)")
    }
  }

  @Test(
    "codes and addresses of real servers are told",
    arguments: [
      "interaction_required", "invalid_grant_AADSTS70008", "org_internal", "urn:x:oauth2:error:mfa_required", "190",
      "OAUTH_APP_BLOCKED", "inactive_user", "unsupported_over_http",
    ])
  func codes(code: String) {
    let uri = "https://login.microsoftonline.com/error?code=700082"
    let secrets = RequestSecrets([Secret("hunter2hunter2")])
    #expect(OAuthError(code: code, hiding: secrets)?.code == code && !secrets.mayBe(in: uri))
  }

  @Test("an issuer that is another tenant's is shown whole")
  func issuer() throws {
    let expectation = try AuthorizationExpectation(
      redirectURI: "http://127.0.0.1:1/callback", state: Secret("s"), issuer: "https://as.example",
      issuerRequired: false)
    let other = "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"
    #expect("\(expectation.judge(method: "GET", target: "/callback?state=s&iss=\(other)"))".contains(other))
  }
}
