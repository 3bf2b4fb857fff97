import AgentWire
import Testing

@testable import oauthctl

@Suite("What a login says of accounts that exchange its tokens")
struct LoginWordsTests {
  @Test("They are named with whose tokens they exchange, what they give until when, and the command")
  func borrowers() {
    var progress = LoginProgress(state: .pending, account: "company")
    #expect(LoginWords.borrowers(progress) == nil)
    progress.concern(["api"])
    #expect(
      LoginWords.borrowers(progress)
        == "api exchanges tokens of company by another login; it gives none until you agree to this one: oauthctl login api"
    )
    progress.otherUser = OtherUser(was: "alice", now: "bob")
    progress.concern(["api", "b"])
    #expect(
      LoginWords.borrowers(progress)
        == "api, b exchange tokens of company as alice; they give none until you agree to bob: oauthctl login api")
  }
}
