import AgentWire
import OAuthProtocol
import Sealing
import Testing

@testable import AgentCore

@Suite("Rotation: one refresh per generation, and no refresh token lost")
struct RotationTests {
  @Test("fifty who ask together cause one request, and get the same token")
  func singleFlight() {
    let driver = MachineDriver(.expired())
    let ids = (0..<50).map { $0 % 2 == 0 ? driver.ask() : driver.ask(rejected: "a1") }
    driver.saved()
    let late = driver.ask()
    driver.endsDurably(.granted("a2"))
    #expect(driver.sent.count == 1)
    for id in ids + [late] { #expect(driver.token(id) == "a2") }
  }

  @Test("the intent is durable before the refresh token leaves, and names it, its attempt and its endpoint")
  func intentFirst() {
    let driver = MachineDriver(.expired())
    driver.ask()
    #expect(driver.log == ["save"])
    #expect(driver.sending == nil)
    driver.saved()
    #expect(driver.log == ["save", "send"])
    #expect(driver.durable?.intent?.attempt == 1)
    #expect(driver.durable?.intent?.fingerprint == Fingerprint(of: Secret("r1")).description)
    #expect(driver.durable?.intent?.endpoint == "https://login.example.com/token")
  }

  @Test("nobody is answered before the answer is durable, and it is published before it is delivered")
  func savedFirst() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.ends(.granted("a2"))
    #expect(driver.isWaiting(id))
    #expect(driver.log == ["save", "send", "save"])
    driver.saved()
    #expect(driver.log == ["save", "send", "save", "publish", "deliver"])
    #expect(driver.durable?.intent == nil)
    #expect(driver.durable?.refreshToken == "r2")
  }

  static let badAnswers: [TokenCallEnd] = [
    .unusable(.accessTokenMissing, refreshToken: "r2"),
    .refusedWithoutReason(refreshToken: "r2"),
    .refused("invalid_grant", refreshToken: "r2"),
    .refused("invalid_scope", refreshToken: "r2"),
    .refused("invalid_client", refreshToken: "r2"),
  ]

  @Test("a refresh token that came with a bad answer is kept, whatever the verdict", arguments: badAnswers.indices)
  func salvaged(index: Int) {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(Self.badAnswers[index])
    #expect(driver.durable?.refreshToken == "r2")
    #expect(driver.failure(id) != nil)
  }

  @Test("an answer without a refresh token keeps the old one")
  func missingKeepsOld() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.endsDurably(.granted("a2", refreshToken: nil))
    #expect(driver.durable?.refreshToken == "r1")
  }

  @Test("what was never sent withdraws its intent, durably, and counts for nothing")
  func notSent() {
    let driver = MachineDriver(.expired())
    for _ in 0..<5 {
      let id = driver.ask()
      driver.saved()
      driver.ends(.notSent("connection refused"))
      #expect(driver.isWaiting(id))
      driver.saved()
      #expect(driver.durable?.intent == nil)
      #expect(driver.failure(id) == .unavailable)
      driver.pass(400)
    }
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
  }

  @Test("several keys of one grant rotate one after the other, each with the refresh token of the one before")
  func keys() {
    let driver = MachineDriver(.expired())
    let write = TokenKey(scope: ["write"])
    let one = driver.ask(seconds: 30)
    let two = driver.ask(write, seconds: 20)
    driver.saved()
    driver.endsDurably(.granted("a2", refreshToken: "r2"))
    #expect(driver.token(one) == "a2")
    #expect(driver.isWaiting(two))
    driver.saved()
    driver.endsDurably(.granted("w1", refreshToken: "r3"))
    #expect(driver.token(two) == "w1")
    #expect(driver.sent.map(\.scope) == [[], ["write"]])
    #expect(driver.sent.last?.grant.refreshToken == Secret("r2"))
    #expect(driver.durable?.token(write)?.scope == ["write"], "RFC 6749 §5.1: as asked when the answer names none")
    #expect(driver.token(driver.ask()) == "a2")
    #expect(driver.token(driver.ask(write)) == "w1")
  }

  @Test("keys wait in the order of the deadlines of those who ask")
  func deadlines() {
    let driver = MachineDriver(.expired(), .plain.with { $0.allowedScope = ["late", "soon"] })
    driver.ask(seconds: 30)
    driver.ask(TokenKey(scope: ["late"]), seconds: 25)
    driver.ask(TokenKey(scope: ["soon"]), seconds: 5)
    for token in ["a2", "b", "c"] {
      driver.saved()
      driver.endsDurably(.granted(token, refreshToken: "r-\(token)"))
    }
    #expect(driver.sent.map(\.scope) == [[], ["soon"], ["late"]])
  }

  @Test("sixteen keys are kept at most, and where a refresh kills older tokens only the new one")
  func keyLimit() {
    let scopes = (0..<20).flatMap { ["s\($0)", "l\($0)"] } + ["last"]
    let driver = MachineDriver(.expired(), .plain.with { $0.allowedScope = scopes })
    for index in 0..<20 {
      driver.ask(TokenKey(scope: ["s\(index)"]))
      driver.saved()
      driver.endsDurably(.granted("t\(index)", refreshToken: "r\(index)"))
    }
    #expect(driver.durable?.tokens.count == TokenKey.limit)
    // Of a server whose tokens are as long as they may be.
    for index in 0..<20 {
      driver.ask(TokenKey(scope: ["l\(index)"]))
      driver.saved()
      driver.endsDurably(.granted(String(repeating: "t", count: 32_000), refreshToken: "long\(index)"))
    }
    #expect(driver.durable?.tokens.map(\.accessToken.secret.count) == Array(repeating: 32_000, count: 4))
    driver.define(
      .plain.with {
        $0.allowedScope = scopes
        $0.refreshRevokesAccessToken = true
      })
    driver.ask(TokenKey(scope: ["last"]))
    driver.saved()
    driver.endsDurably(.granted("only"))
    #expect(driver.durable?.tokens.count == 1)
  }

  @Test("what is taken out of the file is asked for no more, neither for who waits for it nor by the plan")
  func takenOut() {
    let driver = MachineDriver(.expired())
    let write = TokenKey(scope: ["write"])
    let one = driver.ask(seconds: 30)
    let two = driver.ask(write, seconds: 40)
    driver.saved()
    driver.define(.plain.with { $0.allowedScope = [] })
    #expect(driver.failure(two) == .notPermitted)
    driver.endsDurably(.granted("a2", refreshToken: "r2"))
    #expect(driver.token(one) == "a2" && driver.failure(driver.ask(write)) == .notPermitted)
    #expect(driver.sent.map(\.scope) == [[]])
    driver.define(.plain)
    driver.ask(write)
    driver.saved()
    driver.endsDurably(.granted("w1", refreshToken: "r3"))
    driver.define(.plain.with { $0.allowedScope = [] })
    driver.ask()
    for _ in 0..<3 {
      driver.sleepAndWake()
      driver.saved()
      driver.endsDurably(.granted("a3", refreshToken: "r4"))
    }
    #expect(driver.sent.map(\.scope) == [[], ["write"], [], [], []])
  }

  @Test("a waiter that leaves takes nothing with it")
  func leaving() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.timesOut(id)
    #expect(driver.failure(id) == .timeout)
    driver.endsDurably(.granted("a2"))
    #expect(driver.durable?.refreshToken == "r2")
    #expect(driver.token(driver.ask()) == "a2")
  }
}
