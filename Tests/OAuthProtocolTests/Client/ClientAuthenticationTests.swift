import HTTPTerms
import OAuthProtocol
import OAuthTerms
import Sealing
import Testing

@Suite struct ClientAuthenticationTests {
  private func request(_ client: OAuthClient) throws -> HTTPRequest {
    try TokenRequest(endpoint: WebURL("https://h/token"), client: client, grant: .clientCredentials).httpRequest()
  }

  @Test(
    "Basic credentials are form-encoded, then joined, then base 64 (RFC 6749 §2.3.1)",
    arguments: [
      // Each expected value was made with base64(quote(id) + ":" + quote(secret)) of another language.
      ("s6BhdRkqt3", "gX1fBat3bV", "czZCaGRSa3F0MzpnWDFmQmF0M2JW"),
      ("a:b c", "p%+é&=/", "YSUzQWIlMjBjOnAlMjUlMkIlQzMlQTklMjYlM0QlMkY="),
      ("id", "~-._", "aWQ6fi0uXw=="),
      ("id", "???>>>", "aWQ6JTNGJTNGJTNGJTNFJTNFJTNF"),
    ])
  func basic(id: String, secret: String, expected: String) throws {
    let request = try request(OAuthClient(id: id, authentication: .basic(Secret(secret))))
    #expect(request.credentials == Secret("Basic " + expected))
    #expect(try lines(request) == ["grant_type=client_credentials"])
  }

  @Test("credentials in the body are in the body alone")
  func post() throws {
    let request = try request(OAuthClient(id: "a:b c", authentication: .post(Secret("p%+é&=/"))))
    #expect(request.credentials == nil)
    #expect(try lines(request) == ["grant_type=client_credentials", "client_id=a:b c", "client_secret=p%+é&=/"])
  }

  @Test("a public client sends its id alone")
  func none() throws {
    let request = try request(OAuthClient(id: "app"))
    #expect(request.credentials == nil)
    #expect(try lines(request) == ["grant_type=client_credentials", "client_id=app"])
  }

  @Test("a client that shows a certificate is named in the body, and nothing there proves it (RFC 8705 §2)")
  func certificate() throws {
    let certificate = ConnectionCertificate(
      key: Secret([UInt8](repeating: 7, count: 49)), certificates: [[1, 2, 3], Array(0..<96)])
    let request = try request(OAuthClient(id: "app", authentication: .certificate(certificate)))
    #expect(request.credentials == nil && request.certificate == certificate)
    #expect(try lines(request) == ["grant_type=client_credentials", "client_id=app"])
    let body = String(repeating: "BwcH", count: 16) + "\nBw==\n"
    let long =
      "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4v\n"
      + "MDEyMzQ1Njc4OTo7PD0+P0BBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5f\n"
    #expect(
      certificate.pem
        == Secret(
          "-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n"
            + "-----BEGIN CERTIFICATE-----\n\(long)-----END CERTIFICATE-----\n"
            + "-----BEGIN PRIVATE KEY-----\n\(body)-----END PRIVATE KEY-----\n"))
  }

  @Test("a form request says what it sends and what it wants")
  func headers() throws {
    let request = try request(OAuthClient(id: "app"))
    #expect(request.method == .post)
    #expect(request.headers.value("Accept") == "application/json")
    #expect(request.headers.value("Content-Type") == "application/x-www-form-urlencoded")
  }

  @Test(
    "the method is the one the server takes",
    arguments: [
      (false, nil, ClientAuthenticationMethod.none), (false, ["client_secret_basic"], .none),
      (true, nil, .clientSecretBasic), (true, [], .clientSecretBasic),
      (true, ["client_secret_post"], .clientSecretPost),
      (true, ["client_secret_post", "client_secret_basic"], .clientSecretBasic),
      (true, ["private_key_jwt", "client_secret_post"], .clientSecretPost),
    ] as [(Bool, [String]?, ClientAuthenticationMethod)])
  func choice(hasSecret: Bool, supported: [String]?, expected: ClientAuthenticationMethod) throws {
    #expect(try ClientAuthenticationMethod.chosen(hasSecret: hasSecret, supported: supported) == expected)
  }

  @Test("a server that takes no secret is refused by name, escaped")
  func noSecretTaken() {
    #expect(
      throws: ProtocolError.clientAuthentication("the server takes no client secret, only: private_key_jwt, \\u{1b}")
    ) {
      try ClientAuthenticationMethod.chosen(hasSecret: true, supported: ["private_key_jwt", "\u{1B}"])
    }
    for method in ClientAuthenticationMethod.allCases where method.needsSecret {
      #expect(throws: ProtocolError.self) {
        try method.with(nil, sign: { $0 }, show: { ConnectionCertificate(key: $0, certificates: []) })
      }
    }
  }

  @Test("a client id or secret that no server could take is refused", arguments: ["", "a\n", "é", "a\u{7F}"])
  func badID(id: String) {
    #expect(throws: ProtocolError.self) { try OAuthClient(id: id) }
    #expect(throws: ProtocolError.self) { try OAuthClient(id: "x", authentication: .basic(Secret(""))) }
  }
}
