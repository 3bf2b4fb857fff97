import HTTPTerms
import OAuthProtocol
import Sealing
import Testing

@Suite("Client registration")
struct ClientRegistrationTests {
  private static let redirect = "http://127.0.0.1:20001/callback"

  private func registration(isForDevices: Bool = false, scope: [String] = ["a", "b"]) throws -> ClientRegistration {
    ClientRegistration(
      endpoint: try WebURL("https://as.example/r"), redirectURI: Self.redirect, isForDevices: isForDevices,
      scope: scope)
  }

  private func judge(_ status: Int, _ body: String) throws -> RegisteredClient {
    try RegisteredClient(judging: answer(status, body), of: try registration())
  }

  @Test("the request is that of a native, public client (RFC 7591 §2)")
  func request() throws {
    let request = try registration().httpRequest()
    #expect(request.method == .post && request.url == "https://as.example/r" && request.credentials == nil)
    #expect(request.headers.value("Content-Type") == "application/json")
    #expect(
      request.body.withBytes { String(decoding: $0, as: UTF8.self) } == """
        {"application_type":"native","client_name":"oauthctl","grant_types":["authorization_code","refresh_token"],\
        "redirect_uris":["http://127.0.0.1:20001/callback"],"response_types":["code"],"scope":"a b",\
        "token_endpoint_auth_method":"none"}
        """)
    let device = try registration(isForDevices: true, scope: []).httpRequest().body
    #expect(
      device.withBytes { String(decoding: $0, as: UTF8.self) }.contains(
        #""grant_types":["urn:ietf:params:oauth:grant-type:device_code","refresh_token"],"#))
  }

  @Test("what the server made of it is read", arguments: [200, 201])
  func reads(status: Int) throws {
    let plain = try judge(status, #"{"client_id":"c_1"}"#)
    #expect(plain.id == "c_1" && plain.secret == nil && plain.authentication == nil)
    let whole = try judge(
      status,
      #"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post","redirect_uris":["https://x/","\#(Self.redirect)"]}"#
    )
    #expect(whole.secret == Secret("s") && whole.authentication == "client_secret_post")
    #expect(try judge(status, #"{"client_id":"c","client_secret":""}"#).secret == nil)
  }

  @Test(
    "what cannot be used is told",
    arguments: [
      (201, #"{"client_id":"c","redirect_uris":["http://127.0.0.1/callback"]}"#, "another redirect"),
      (201, #"{"client_id":"c","redirect_uris":["https://evil.example/"]}"#, "another redirect"),
      (201, #"{"client_id":"a\u001b[2J"}"#, "no usable client_id"), (201, #"{"client_id":""}"#, "no usable client_id"),
      (201, #"{"client_id":7}"#, "no usable client_id"), (201, "{", "cut off"), (201, "", "not a JSON object"),
      (201, #"{"client_id":"c","client_id":"d"}"#, "client_id appears twice"),
      (201, #"{"client_id":"c","client_secret":"s\u0000"}"#, "client_secret holds a control character"),
      (201, #"{"client_id":"c","client_secret":"s\n\u001b[2J"}"#, "client_secret holds a control character"),
      (201, #"{"client_id":"c","client_secret":"\u007f"}"#, "client_secret holds a control character"),
      (201, #"{"client_id":"c","client_secret":"\#(String(repeating: "s", count: 4_097))"}"#, "is too long"),
      (400, #"{"error":"invalid_redirect_uri","error_description":"no \u001bloopback"}"#, "invalid_redirect_uri"),
      (403, "no", "status 403"), (500, "", "status 500"), (302, "", "status 302"),
    ])
  func refuses(status: Int, body: String, word: String) throws {
    do {
      _ = try judge(status, body)
      Issue.record("it was taken")
    } catch let refusal as RegistrationRefusal {
      #expect(refusal.description.contains(word) && !refusal.description.utf8.contains(0x1B))
      #expect(refusal.isTransient == (status == 500))
    }
  }

  @Test("an id of the greatest length is taken, a longer one is not")
  func length() throws {
    let id = String(repeating: "c", count: RegisteredClient.idLimit)
    #expect(try judge(201, #"{"client_id":"\#(id)"}"#).id == id)
    #expect(throws: RegistrationRefusal.self) { try judge(201, #"{"client_id":"\#(id)c"}"#) }
  }
}
