import HTTPTerms
import OAuthProtocol
import Sealing
import Testing

@Suite struct DiscoveryTests {
  private static let minimal =
    #"{"issuer":"https://as.example","authorization_endpoint":"https://as.example/a","token_endpoint":"https://as.example/t"}"#

  private func discover(_ body: String, issuer: String = "https://as.example") throws -> Discovery.Step {
    var discovery = Discovery(issuer: try Issuer(issuer))
    _ = discovery.judge(.answered(answer(404, "")), now: 0)
    var step = discovery.judge(.answered(answer(200, body)), now: 0)
    while case .ask = step { step = discovery.judge(.answered(answer(404, "")), now: 0) }
    return step
  }

  @Test(
    "the well-known part is inserted for OAuth and appended for OpenID (RFC 8414 §3.1)",
    arguments: [
      (
        "https://h", "https://h/.well-known/oauth-authorization-server", "https://h/.well-known/openid-configuration"
      ),
      (
        "https://h/", "https://h/.well-known/oauth-authorization-server", "https://h/.well-known/openid-configuration"
      ),
      (
        "https://h/t1", "https://h/.well-known/oauth-authorization-server/t1",
        "https://h/t1/.well-known/openid-configuration"
      ),
      (
        "https://h:8443/a/b/", "https://h:8443/.well-known/oauth-authorization-server/a/b",
        "https://h:8443/a/b/.well-known/openid-configuration"
      ),
    ])
  func places(issuer: String, oauth: String, openID: String) throws {
    let issuer = try Issuer(issuer)
    #expect(issuer.metadataURL(.oauth) == oauth)
    #expect(issuer.metadataURL(.openID) == openID)
    var discovery = Discovery(issuer: issuer)
    #expect(discovery.first.url == oauth)
    #expect(discovery.first.method == .get)
    let others = [issuer.metadataURL(.insertedOpenID), openID]
    for next in issuer.url.path.count > 1 ? others : [openID] {
      guard case .ask(let request) = discovery.judge(.answered(answer(404, "")), now: 0) else {
        Issue.record("no request to \(next)")
        return
      }
      #expect(request.url == next)
    }
    guard case .failed = discovery.judge(.answered(answer(404, "")), now: 0) else {
      Issue.record("one request too many")
      return
    }
  }

  @Test(
    "an issuer is a plain https URL",
    arguments: ["", "h", "http://h", "https://h?x=1", "https://h?", "https://h#x", "https://u@h", "https://h/../x"])
  func badIssuer(text: String) {
    #expect(throws: ProtocolError.self) { try Issuer(text) }
  }

  @Test("a document is read into values")
  func reads() throws {
    let body = """
      {"issuer":"https://as.example","authorization_endpoint":"https://as.example/a","token_endpoint":"https://tok.example/t?x=1",
       "revocation_endpoint":"https://as.example/r","device_authorization_endpoint":"https://as.example/d",
       "introspection_endpoint":"https://as.example/i","code_challenge_methods_supported":["plain","S256"],
       "token_endpoint_auth_methods_supported":["none","client_secret_post"],"grant_types_supported":["refresh_token"],
       "scopes_supported":["a","b"],"authorization_response_iss_parameter_supported":true,"unknown":{"x":[1]}}
      """
    guard case .found(let metadata, .openID) = try discover(body) else {
      Issue.record("not found")
      return
    }
    #expect(
      metadata
        == ServerMetadata(
          issuer: try Issuer("https://as.example"), authorizationEndpoint: try WebURL("https://as.example/a"),
          tokenEndpoint: try WebURL("https://tok.example/t?x=1"),
          revocationEndpoint: try WebURL("https://as.example/r"),
          deviceAuthorizationEndpoint: try WebURL("https://as.example/d"),
          codeChallengeMethodsSupported: ["plain", "S256"],
          tokenEndpointAuthMethodsSupported: ["none", "client_secret_post"],
          scopesSupported: ["a", "b"], authorizationResponseIssParameterSupported: true))
  }

  @Test("the first place that has a document is enough")
  func firstPlace() throws {
    var discovery = Discovery(issuer: try Issuer("https://as.example"))
    guard case .found(let metadata, .oauth) = discovery.judge(.answered(answer(200, Self.minimal)), now: 0) else {
      Issue.record("not found")
      return
    }
    #expect(metadata.codeChallengeMethodsSupported == nil)
    #expect(!metadata.authorizationResponseIssParameterSupported)
  }

  @Test("what is refused shows no word that looks like a token")
  func foreignWords() throws {
    let word = "rtyQXlayP599wMYXN15ooe0NuynT3sgB"
    for member in [
      #""revocation_endpoint":"say \#(word) now""#, #""code_challenge_methods_supported":["\#(word)"]"#,
    ] {
      let document = #"{"issuer":"https://as.example","token_endpoint":"https://as.example/t",\#(member)}"#
      switch try discover(document) {
      case .failed(let failure): #expect(!failure.description.contains(word), "\(failure)")
      case .found(let metadata, _):
        let obstacle = try #require(metadata.authorizationObstacle)
        #expect(obstacle.description.contains("…") && !obstacle.description.contains(word), "\(obstacle)")
      case .ask: Issue.record("not judged")
      }
    }
  }

  @Test(
    "a document that would send secrets elsewhere is refused with its reason",
    arguments: [
      (#"{"issuer":"https://as.example/","token_endpoint":"https://as.example/t"}"#, "for the issuer"),
      (#"{"issuer":"https://AS.example","token_endpoint":"https://as.example/t"}"#, "for the issuer"),
      (#"{"issuer":"https://as.exampl\u0065 ","token_endpoint":"https://as.example/t"}"#, "for the issuer"),
      (#"{"issuer":"https://evil.example","token_endpoint":"https://as.example/t"}"#, "evil.example"),
      (#"{"issuer":"https://as.example"}"#, "names no token_endpoint"),
      (#"{"issuer":"https://as.example","token_endpoint":null}"#, "names no token_endpoint"),
      (#"{"issuer":"https://as.example","token_endpoint":"http://as.example/t"}"#, "token_endpoint is refused"),
      (#"{"issuer":"https://as.example","token_endpoint":"/t"}"#, "token_endpoint is refused"),
      (#"{"issuer":"https://as.example","token_endpoint":["https://as.example/t"]}"#, "token_endpoint is refused"),
      (#"{"issuer":"https://as.example","token_endpoint":"https://as.example/t#f"}"#, "fragment"),
      (#"{"issuer":"https://as.example","token_endpoint":"https://u:p@as.example/t"}"#, "user name"),
      (#"{"issuer":"https://as.example","token_endpoint":"http://127.0.0.1:1/t"}"#, "loopback"),
      (#"{"issuer":"https://as.example","token_endpoint":"https://localhost/t"}"#, "loopback"),
      (#"{"issuer":"https://as.example","token_endpoint":"https://0.0.0.0/t"}"#, "loopback"),
      (#"{"issuer":"https://as.example","token_endpoint":"https://[::ffff:7f00:1]/t"}"#, "loopback"),
      (
        #"{"issuer":"https://as.example","token_endpoint":"https://a.example/t","token_endpoint":"https://b.example/t"}"#,
        "twice"
      ),
      (
        #"{"issuer":"https://as.example","token_endpoint":"https://a.example/t","revocation_endpoint":"ftp://x"}"#,
        "revocation_endpoint is refused"
      ),
      (
        #"{"issuer":"https://as.example","token_endpoint":"https://a.example/t","pushed_authorization_request_endpoint":"http://127.0.0.1/p"}"#,
        "pushed_authorization_request_endpoint is refused"
      ),
      (
        #"{"issuer":"https://as.example","token_endpoint":"https://a.example/t","scopes_supported":7}"#,
        "scopes_supported is refused"
      ),
      (
        #"{"issuer":"https://as.example","token_endpoint":"https://a.example/t","authorization_response_iss_parameter_supported":"yes"}"#,
        "neither true nor false"
      ),
      (#"{"issuer":7}"#, "names no issuer"),
      ("{}", "names no issuer"),
      ("[]", "not a JSON object"),
      ("<html>", "not a JSON object"),
      ("", "not a JSON object"),
      (#"{"issuer":"https://as.example","token_endpoint":"https://as.example/t""#, "cut off"),
    ])
  func refuses(body: String, reason: String) throws {
    guard case .failed(let failure) = try discover(body) else {
      Issue.record("accepted")
      return
    }
    #expect(failure.description.contains(reason), "\(failure)")
    #expect(!failure.isTransient)
  }

  @Test(
    "what a server wants of authorization requests and cannot get is named; the metadata is read all the same",
    arguments: [
      (#""code_challenge_methods_supported":["plain"]"#, AuthorizationObstacle.noS256(listed: "plain")),
      (#""code_challenge_methods_supported":"plain""#, .noS256(listed: "plain")),
      (#""require_pushed_authorization_requests":true"#, .pushedRequests),
      (
        #""require_pushed_authorization_requests":true,"pushed_authorization_request_endpoint":"https://a.example/p""#,
        nil
      ),
      (#""require_signed_request_object":true"#, .signedRequests),
      (#""code_challenge_methods_supported":[],"require_pushed_authorization_requests":false"#, nil),
    ])
  func obstacles(member: String, obstacle: AuthorizationObstacle?) throws {
    let body = #"{"issuer":"https://as.example","token_endpoint":"https://a.example/t",\#(member)}"#
    guard case .found(let metadata, _) = try discover(body) else {
      Issue.record("not found")
      return
    }
    #expect(metadata.authorizationObstacle == obstacle)
  }

  @Test("an issuer that is canonically equivalent, and not equal, is another one")
  func kelvin() throws {
    // U+212A is a capital K to Swift's ==.
    let body = "{\"issuer\":\"https://h/\u{212A}\",\"token_endpoint\":\"https://h/t\"}"
    guard case .failed = try discover(body, issuer: "https://h/K") else {
      Issue.record("accepted")
      return
    }
  }

  @Test("a loopback issuer may name loopback endpoints")
  func loopback() throws {
    let body = #"{"issuer":"http://127.0.0.1:9","token_endpoint":"http://127.0.0.1:9/t"}"#
    guard case .found = try discover(body, issuer: "http://127.0.0.1:9") else {
      Issue.record("refused")
      return
    }
  }

  @Test("a refusal of the first place is told when the second has nothing")
  func tellsRefusal() throws {
    var discovery = Discovery(issuer: try Issuer("https://as.example"))
    let other = #"{"issuer":"https://other.example","token_endpoint":"https://other.example/t"}"#
    guard case .ask = discovery.judge(.answered(answer(200, other)), now: 0),
      case .failed(let failure) = discovery.judge(.answered(answer(404, "")), now: 0)
    else {
      Issue.record("wrong steps")
      return
    }
    #expect(failure.description.contains("other.example"))
    #expect(failure.url == "https://as.example/.well-known/oauth-authorization-server")
  }

  @Test("a web page in the first place does not hide what the second says")
  func pageThenFound() throws {
    var discovery = Discovery(issuer: try Issuer("https://as.example"))
    _ = discovery.judge(.answered(answer(200, "<html>")), now: 0)
    guard case .found(_, .openID) = discovery.judge(.answered(answer(200, Self.minimal)), now: 0) else {
      Issue.record("not found")
      return
    }
  }

  @Test("a server that cannot be reached or asks for rest is not asked again")
  func transient() throws {
    let outcomes: [HTTPOutcome] = [
      .notSent(HTTPFailure(.nameResolution, "no such host")), .sentNoAnswer(HTTPFailure(.timeout, "no answer")),
      .answered(answer(503, "", [HTTPField("Retry-After", "9")])), .answered(answer(429, "")),
    ]
    for outcome in outcomes {
      var discovery = Discovery(issuer: try Issuer("https://as.example"))
      guard case .failed(let failure) = discovery.judge(outcome, now: 0) else {
        Issue.record("asked again")
        continue
      }
      #expect(failure.isTransient)
    }
  }

  @Test("a redirect is told and not followed, its target escaped")
  func redirect() throws {
    var discovery = Discovery(issuer: try Issuer("https://as.example"))
    let moved = answer(302, "", [HTTPField("Location", "https://x/\u{1B}[2J")])
    _ = discovery.judge(.answered(moved), now: 0)
    guard case .failed(let failure) = discovery.judge(.answered(moved), now: 0) else {
      Issue.record("followed")
      return
    }
    #expect(failure.description.contains("redirects to \"https://x/\\u{1b}[2J\""))
  }

  @Test("a document larger than the limit is refused")
  func large() throws {
    let body = Self.minimal.dropLast() + ",\"x\":\"" + String(repeating: "y", count: HTTPLimits.bodyBytes) + "\"}"
    guard case .failed(let failure) = try discover(body) else {
      Issue.record("accepted")
      return
    }
    #expect(failure.description.contains("larger"))
  }

  @Test(
    "A client with a certificate goes to the endpoints that are named for it, and to the others where none is (RFC 8705 §5)"
  )
  func certificateEndpoints() throws {
    let body =
      Self.minimal.dropLast()
      + #","revocation_endpoint":"https://as.example/r","tls_client_certificate_bound_access_tokens":true"#
      + #","mtls_endpoint_aliases":{"token_endpoint":"https://mtls.as.example/t"}}"#
    guard case .found(let metadata, _) = try discover(String(body)) else {
      Issue.record("not found")
      return
    }
    #expect(metadata.tokenEndpoint.text == "https://as.example/t" && metadata.certificateBoundAccessTokens)
    let own = try metadata.forCertificates()
    #expect(own.tokenEndpoint.text == "https://mtls.as.example/t")
    #expect(
      own.revocationEndpoint?.text == "https://as.example/r"
        && own.authorizationEndpoint?.text == "https://as.example/a")
  }

  @Test(
    "Such endpoints that cannot be used are refused where they are needed, and concern nobody else",
    arguments: [
      "7", #"{"token_endpoint":"http://as.example/t"}"#, #"{"token_endpoint":"https://127.0.0.1/t"}"#,
      #"{"token_endpoint":"https://a/t","token_endpoint":"https://b/t"}"#, #"{},"mtls_endpoint_aliases":{}"#,
    ])
  func badCertificateEndpoints(value: String) throws {
    let body = Self.minimal.dropLast() + ",\"mtls_endpoint_aliases\":\(value)}"
    guard case .found(let metadata, _) = try discover(String(body)) else {
      Issue.record("not found")
      return
    }
    #expect(throws: MetadataRefusal.self) { try metadata.forCertificates() }
  }
}
