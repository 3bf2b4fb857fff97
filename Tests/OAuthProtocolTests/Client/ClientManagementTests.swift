import HTTPTerms
import OAuthProtocol
import Sealing
import Testing

@Suite("What deletes a registered client (RFC 7592)")
struct ClientManagementTests {
  private func registered(_ members: String) throws -> RegisteredClient {
    let registration = ClientRegistration(
      endpoint: try WebURL("https://as.example/register"), redirectURI: "http://127.0.0.1:20001/callback",
      isForDevices: false, scope: [])
    return try RegisteredClient(judging: answer(201, #"{"client_id":"c"\#(members)}"#), of: registration)
  }

  private func members(_ uri: String, _ token: String) -> String {
    #","registration_client_uri":"\#(uri)","registration_access_token":"\#(token)""#
  }

  @Test("is kept where the registration endpoint's own origin names it")
  func found() throws {
    let client = try registered(members("https://as.example/register/c", "the-token"))
    let management = try #require(client.management)
    #expect(management.uri.text == "https://as.example/register/c" && client.managementProblem == nil)
    let request = management.deletion()
    #expect(request.method == .delete && request.url == "https://as.example/register/c" && request.body.isEmpty)
    #expect(request.credentials == Secret("Bearer the-token"))
  }

  @Test(
    "is not kept, and said so, where its token would go elsewhere or cannot be sent",
    arguments: [
      (#","registration_client_uri":"https://evil.example/c","registration_access_token":"t""#, "evil.example"),
      (#","registration_client_uri":"https://as.example:8443/c","registration_access_token":"t""#, "8443"),
      (#","registration_client_uri":"http://as.example/c","registration_access_token":"t""#, "no usable URL"),
      (#","registration_client_uri":"https://a@as.example/c","registration_access_token":"t""#, "no usable URL"),
      (#","registration_client_uri":"https://as.example/c","registration_access_token":"a b""#, "cannot be sent"),
      (#","registration_client_uri":"https://as.example/c","registration_access_token":"a\r\nb""#, "cannot be sent"),
      (#","registration_client_uri":"https://as.example/c","registration_access_token":"""#, "cannot be sent"),
      (
        #","registration_client_uri":"https://as.example/c","registration_access_token":"t","registration_access_token":"u""#,
        "appears twice"
      ),
    ])
  func refused(members: String, word: String) throws {
    let client = try registered(members)
    #expect(client.id == "c" && client.management == nil)
    let problem = try #require(client.managementProblem)
    #expect(problem.contains(word) && problem.utf8.allSatisfy { $0 >= 0x20 })
  }

  @Test(
    "is nothing where the answer has one of the two alone",
    arguments: ["", #","registration_client_uri":"https://as.example/c""#, #","registration_access_token":"t""#])
  func absent(members: String) throws {
    let client = try registered(members)
    #expect(client.management == nil && client.managementProblem == nil)
  }

  @Test(
    "is done with, tried again, or refused, by the status of the answer",
    arguments: [
      (204, ClientDeletionVerdict.done), (200, .done), (404, .done), (410, .done),
      (503, .later(status: 503, retryAfterSeconds: 7)), (429, .later(status: 429, retryAfterSeconds: 7)),
      (408, .later(status: 408, retryAfterSeconds: 7)), (401, .refused(status: 401)), (403, .refused(status: 403)),
      (405, .refused(status: 405)), (302, .refused(status: 302)),
    ])
  func verdict(status: Int, verdict: ClientDeletionVerdict) {
    #expect(ClientDeletionVerdict(judging: answer(status, "", [HTTPField("Retry-After", "7")]), now: 0) == verdict)
  }
}
