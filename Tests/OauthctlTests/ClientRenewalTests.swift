import AgentWire
import Testing

@testable import oauthctl

@Suite("A client that its server forgot")
struct ClientRenewalTests {
  @Test("gets another id and way to authenticate in the account's file, and nothing else of it changes")
  func text() {
    let file = """
      # mine
      issuer = "https://as.example"
      client_id = "old"
      client_authentication = "none"
      redirect_uri = "http://127.0.0.1:20001/x/callback"

      [token_parameters]
      client_id = "other"
      """
    let renewed = ClientRenewal.text(file, of: "old", now: ClientRegisterAnswer(clientID: "n\"ew"))
    #expect(renewed == file.replacing("client_id = \"old\"", with: "client_id = \"n\\\"ew\""))
    let secret = ClientRenewal.text(
      file, of: "old",
      now: ClientRegisterAnswer(clientID: "new", clientSecret: "s", clientAuthentication: "client_secret_post"))
    #expect(secret.contains("client_id = \"new\"\nclient_authentication = \"client_secret_post\"\n"))
    #expect(ClientRenewal.text(file, of: "another", now: ClientRegisterAnswer(clientID: "new")) == file)
  }
}
