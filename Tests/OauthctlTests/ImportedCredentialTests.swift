import AgentWire
import Testing

@testable import oauthctl

@Suite("A login of another program")
struct ImportedCredentialTests {
  private func read(_ text: String) throws -> ImportedCredential {
    try ImportedCredential(reading: Array(text.utf8), for: "work")
  }

  @Test("oidc-agent's account")
  func oidcAgent() throws {
    let found = try read(
      #"{"name":"wlcg","issuer_url":"https://as.example/","daeSetByUser":0,"client_id":"c","client_secret":"s","#
        + #""refresh_token":"r","cert_path":"","scope":"openid storage.read:/","redirect_uris":["http://localhost:1"]}"#
    )
    #expect(found.refreshToken == "r" && found.clientID == "c" && found.clientSecret == "s")
    #expect(found.issuer == "https://as.example/" && found.scope == ["openid", "storage.read:/"])
  }

  @Test("gcloud's application default credentials name no issuer")
  func google() throws {
    let found = try read(
      #"{"account":"","client_id":"c","client_secret":"s","refresh_token":"1//r","type":"authorized_user"}"#)
    #expect(found.issuer == "https://accounts.google.com" && found.tokenEndpoint == nil && found.scope == nil)
    let python = try read(
      #"{"token":"t","refresh_token":"r","token_uri":"https://oauth2.googleapis.com/token","scopes":["a","b"],"#
        + #""expiry":"2026-11-23T02:00:00.123456Z"}"#)
    #expect(python.issuer == "https://accounts.google.com" && python.scope == ["a", "b"])
    #expect(python.tokenEndpoint == "https://oauth2.googleapis.com/token")
    #expect(python.accessToken == "t" && python.expiresAt == 1_795_399_200)
  }

  @Test("An access token of unknown age is left out where there is a refresh token")
  func age() throws {
    let both = try read(#"{"refresh_token":"r","access_token":"t","expires_in":3600}"#)
    #expect(both.accessToken == nil && both.refreshToken == "r")
    let alone = try read(#"{"access_token":"t","expiry":"0001-01-01T00:00:00Z"}"#)
    #expect(alone.accessToken == "t" && alone.expiresAt == nil)
    #expect(try read(#"{"refresh_token":"r","access_token":"t","expires_at":5}"#).expiresAt == 5)
    // Another zone is not guessed at.
    #expect(
      try read(#"{"refresh_token":"r","access_token":"t","expiry":"2026-01-01T00:00:00+02:00"}"#).accessToken == nil)
    #expect(try read(#"{"refresh_token":"r","access_token":"t","expires_at":1e300}"#).accessToken == nil)
  }

  @Test(
    "What is no login is refused, and nothing of it is repeated",
    arguments: [
      "", "[]", "SECRET", "\u{0}\u{1}SECRET", #"{"refresh_token":7}"#, #"{"refresh_token":""}"#, #"{"SECRET":{}}"#,
      #"{"type":"service_account","refresh_token":"SECRET"}"#, #"{"type":"external_account","refresh_token":"SECRET"}"#,
      #"{"token_type":"DPoP","access_token":"SECRET"}"#, String(repeating: "[", count: 100_000),
    ])
  func refused(text: String) throws {
    let error = #expect(throws: CommandError.self) { try read(text) }
    #expect(error?.status == 64)
    #expect("\(error?.sentence ?? "")\(error?.nextStep?.text ?? "")".range(ofText: "SECRET") == nil)
  }
}
