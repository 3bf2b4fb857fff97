import AgentTestSupport
import AgentWire
import Testing

@testable import AgentCore

@Suite("What was told last")
struct ToldStateTests {
  private static let (ok, retrying) = (
    ToldState.Account(state: .ok, fingerprint: "f"), ToldState.Account(state: .retrying, reason: "no route")
  )

  @Test("only what differs from what was told last is news")
  func accounts() {
    var told = ToldState()
    let news = [
      told.note("work", nil), told.note("work", Self.ok), told.note("work", Self.ok), told.note("work", Self.retrying),
      told.note("work", nil),
    ]
    #expect(news == [false, true, false, true, true])
    #expect(told.isEmpty)
  }

  @Test("the vault's first state is no news, and neither are changes that nobody is told of")
  func vault() {
    var told = ToldState()
    let news = [
      told.note(VaultStatusAnswer(state: .open, slots: [], path: "/v")),
      told.note(VaultStatusAnswer(state: .open, slots: ["key_file"], path: "/v")),
      told.note(VaultStatusAnswer(state: .locked, slots: [], path: "/v")),
      told.note(VaultStatusAnswer(state: .locked, slots: [], path: "/v", reason: "locked")),
    ]
    #expect(news == [false, false, true, true])
  }

  @Test("when nobody is subscribed any more, nothing is kept")
  func end() {
    var told = ToldState()
    told.note("work", Self.ok)
    _ = told.note(VaultStatusAnswer(state: .open, slots: [], path: "/v"))
    told.follow(ManualVault())
    told.forgetAccounts()
    #expect(told.isEmpty && told.knowsVault && told.followedVault != nil)
    told.endFollowing()
    #expect(!told.knowsVault && told.followedVault == nil)
  }
}
