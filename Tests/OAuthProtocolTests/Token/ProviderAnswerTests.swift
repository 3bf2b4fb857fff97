import OAuthProtocol
import Sealing
import Testing

/// Answers as providers' documents show them.
@Suite("Providers' own shapes of a token answer")
struct ProviderAnswerTests {
  @Test(
    "Slack's user token, at the top of the answer or in an object of its own",
    arguments: [
      #"{"ok":true,"access_token":"xoxe.xoxp-1","token_type":"user","refresh_token":"xoxe-1","expires_in":43200,"#
        + #""authed_user":{"id":"U1","scope":"channels:read,users:read"},"team":{"id":"T1"}}"#,
      #"{"ok":true,"app_id":"A1","authed_user":{"id":"U1","scope":"channels:read,users:read","#
        + #""access_token":"xoxe.xoxp-1","token_type":"user","refresh_token":"xoxe-1","expires_in":43200},"#
        + #""scope":"","team":{"id":"T1"}}"#,
    ])
  func slack(body: String) throws {
    let judgement = judge(200, body)
    let grant = try #require(judgement.verdict.grant)
    #expect(grant.accessToken == Secret("xoxe.xoxp-1") && grant.tokenType == .bearer)
    #expect(grant.lifetime == .seconds(43_200) && grant.refreshToken == Secret("xoxe-1"))
    #expect(judgement.salvagedRefreshToken == Secret("xoxe-1"), "it is kept before anything else is judged")
    #expect(grant.scope == nil || grant.scope == ["channels:read", "users:read"])
  }

  @Test(
    "What looks like Slack's and is not is judged as ever",
    arguments: [
      (#"{"access_token":"a","token_type":"user"}"#, "unusable type"),
      (#"{"ok":false,"access_token":"a","token_type":"user"}"#, "unusable type"),
      (#"{"ok":true,"access_token":"a","token_type":"User"}"#, "unusable type"),
      (#"{"ok":true,"authed_user":{"id":"U1"}}"#, "unusable no token"),
      (#"{"authed_user":{"access_token":"a"}}"#, "unusable no token"),
      (#"{"ok":true,"authed_user":{"access_token":"a","access_token":"b"}}"#, "unusable duplicate access_token"),
      (
        #"{"ok":true,"error":"internal_error","authed_user":{"access_token":"a"}}"#, "unusable transient internal_error"
      ),
      (#"{"ok":false,"error":"invalid_refresh_token"}"#, "refused invalid_refresh_token"),
      (#"{"ok":false,"error":"bad_client_secret"}"#, "refused bad_client_secret"),
    ])
  func others(body: String, expected: String) { #expect(judge(200, body).verdict.label == expected) }

  @Test("Where a bot's token stands at the top, it is the token")
  func bot() throws {
    let body =
      #"{"ok":true,"access_token":"xoxb-1","token_type":"bot","authed_user":{"id":"U1","access_token":"xoxp-1"}}"#
    #expect(try #require(judge(200, body).verdict.grant).accessToken == Secret("xoxb-1"))
  }

  @Test("Notion's has no life, and no refresh token where there is none")
  func notion() throws {
    for (member, token) in [("null", nil), (#""nrt_1""#, Secret("nrt_1"))] {
      let body =
        #"{"access_token":"ntn_1","token_type":"bearer","refresh_token":\#(member),"bot_id":"b","workspace_name":"w","#
        + #""owner":{"type":"user","user":{"object":"user","id":"u"}},"duplicated_template_id":null}"#
      let grant = try #require(judge(200, body).verdict.grant)
      #expect(grant.accessToken == Secret("ntn_1") && grant.refreshToken == token)
      #expect(grant.lifetime == .unknown(.missing) && grant.scope == nil)
    }
    #expect(judge(400, #"{"error":"invalid_grant","request_id":"r"}"#).verdict.label == "refused invalid_grant")
  }

  @Test("Atlassian calls a dead refresh token a matter of the client, and means the login")
  func atlassian() throws {
    let body = #"{"error":"unauthorized_client","error_description":"refresh_token is invalid"}"#
    let refused = try #require(OAuthError(code: "unauthorized_client", explanation: "refresh_token is invalid"))
    #expect(refused.meaning == .grantRefused && judge(403, body).verdict.label == "refused unauthorized_client")
    #expect(OAuthError(code: "unauthorized_client", explanation: "no")?.meaning == .clientRefused)
  }
}
