import HTTPTerms
import OAuthProtocol
import Sealing
import Testing

@Suite("Pushed authorization requests")
struct PushedAuthorizationTests {
  private static let secret = Secret("7Fjfp0ZBr1KtDRbnfVdmIw")

  private func request(_ authentication: ClientAuthentication) throws -> PushedAuthorizationRequest {
    PushedAuthorizationRequest(
      endpoint: try WebURL("https://as.example.com/as/par"),
      client: try OAuthClient(id: "s6BhdRkqt3", authentication: authentication),
      request: AuthorizationRequest(
        endpoint: try WebURL("https://as.example.com/as/authorize?tenant=1"), clientID: "s6BhdRkqt3",
        redirectURI: "https://client.example.org/cb", scope: ["account-information"], state: Secret("af0ifjsldkj"),
        codeChallenge: "K2-ltc83acc4h0c9w6ESC_rEMTJ3bww-uCHaoeK1t8U"))
  }

  private static let parameters = [
    "response_type=code", "client_id=s6BhdRkqt3", "redirect_uri=https://client.example.org/cb",
    "scope=account-information", "state=af0ifjsldkj",
    "code_challenge=K2-ltc83acc4h0c9w6ESC_rEMTJ3bww-uCHaoeK1t8U", "code_challenge_method=S256",
  ]

  @Test(
    "the body holds the whole request, the client's id once, and its proof as at the token endpoint (RFC 9126 §2.1)")
  func pushes() throws {
    #expect(try lines(request(.none).httpRequest()) == Self.parameters)
    let basic = try request(.basic(Self.secret)).httpRequest()
    #expect(try lines(basic) == Self.parameters)
    // As in the RFC's example.
    #expect(basic.credentials == Secret("Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3"))
    #expect(basic.url == "https://as.example.com/as/par")
    #expect(
      try lines(request(.post(Self.secret)).httpRequest())
        == Self.parameters + ["client_secret=7Fjfp0ZBr1KtDRbnfVdmIw"])
  }

  @Test("the browser gets the client's id and the name of the request alone (RFC 9126 §4)")
  func browser() throws {
    let url = try request(.none).request.url(pushedAs: "urn:example:bwc4JK-ESC0w8acc191e-Y1LTC2")
    #expect(
      url == "https://as.example.com/as/authorize?tenant=1&client_id=s6BhdRkqt3"
        + "&request_uri=urn%3Aexample%3Abwc4JK-ESC0w8acc191e-Y1LTC2")
  }

  private func verdict(_ status: Int, _ body: String) throws -> PushedAuthorizationVerdict {
    PushedAuthorizationVerdict(
      judging: answer(status, body), to: try request(.post(Self.secret)).httpRequest(), clientSecret: Self.secret,
      now: 1_000_000)
  }

  @Test(
    "the name is taken with 201 or 200, and its life has a default and bounds (RFC 9126 §2.2)",
    arguments: [
      (201, #","expires_in":90"#, 90), (200, #","expires_in":"90""#, 90), (201, "", 60),
      (201, #","expires_in":-5"#, 60),
      (201, #","expires_in":1e300"#, 3_600),
    ])
  func taken(status: Int, more: String, seconds: Int) throws {
    guard case .pushed(let pushed) = try verdict(status, #"{"request_uri":"urn:example:a"\#(more)}"#) else {
      Issue.record("not taken")
      return
    }
    #expect(pushed.requestURI == "urn:example:a")
    #expect(pushed.expiresInSeconds == seconds)
  }

  @Test(
    "what no browser may be sent to is refused with its reason, and no secret comes back",
    arguments: [
      (201, "", "not a JSON object"), (201, "<html>", "not a JSON object"), (201, "{}", "request_uri is refused"),
      (201, #"{"request_uri":7}"#, "request_uri is refused"), (201, #"{"request_uri":""}"#, "request_uri is refused"),
      (201, #"{"request_uri":"urn:a b"}"#, "not printable"), (201, #"{"request_uri":"urn:a\nb"}"#, "not printable"),
      (201, #"{"request_uri":"urn:é"}"#, "not printable"),
      (201, #"{"request_uri":"urn:a","request_uri":"urn:b"}"#, "twice"),
      (201, #"{"request_uri":"\#(String(repeating: "a", count: 2_049))"}"#, "too long"),
      (201, #"{"request_uri":"urn:7Fjfp0ZBr1KtDRbnfVdmIw"}"#, "repeats the client secret"),
      (201, #"{"request_uri":"urn:a""#, "cut off"), (302, "", "status is 302"), (404, "{}", "status is 404"),
      (500, "{}", "status is 500"), (429, "", "status is 429"), (400, "{}", "status is 400"),
      (400, #"{"error":"invalid_request","error_description":"7Fjfp0ZBr1KtDRbnfVdmIw is wrong"}"#, "[cut] is wrong"),
      (503, #"{"error":"temporarily_unavailable"}"#, "status is 503"),
      (400, #"{"error":"temporarily_unavailable"}"#, "try again later"),
    ])
  func hostile(status: Int, body: String, reason: String) throws {
    let verdict = try verdict(status, body)
    if case .pushed = verdict { Issue.record("taken: \(body)") }
    #expect("\(verdict)".contains(reason), "\(verdict)")
    #expect(!"\(verdict)".contains("7Fjfp0ZBr1KtDRbnfVdmIw"))
  }

  @Test("trying again may help after a busy server alone")
  func transient() {
    for problem in [EndpointProblem.status(503), .status(429)] { #expect(problem.isTransient) }
    for problem in [EndpointProblem.status(404), .notJSON(""), .member(name: "request_uri", reason: "")] {
      #expect(!problem.isTransient)
    }
  }
}
