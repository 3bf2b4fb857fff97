import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import Synchronization
import Testing

@testable import AgentCore

@Suite("Callers that wait for a token")
struct WaitingCallersTests {
  /// The lines of all answers.
  private final class Answers: Sendable {
    private let state = Mutex<[Int64: String]>([:])
    var all: [Int64: String] { state.withLock { $0 } }

    func add(_ reply: TokenReply, _ number: Int64, at now: Moment) {
      let line: [UInt8]
      switch reply {
      case .line(let bytes): line = bytes
      case .token(let token, let id):
        line = [UInt8](unsafeUninitializedCapacity: token.capacity) {
          $1 = token.write(id, at: now, into: UnsafeMutableRawBufferPointer($0))
        }
      }
      state.withLock { $0[number, default: ""] += String(decoding: line, as: UTF8.self) }
    }
  }

  private let answers = Answers()

  private func ask(_ fixture: AgentFixture, _ number: Int64, _ request: TokenGet, id: RequestID? = nil) throws {
    let line = Array(RequestEncoder.line(id: id ?? .number(number), request).dropLast())
    fixture.router.answerToken(try RequestLine(line), from: fixture.caller) { [answers] reply in
      answers.add(reply, number, at: fixture.clock.now())
    }
  }

  @Test("Thousands that wait for one refresh are answered by it, as the general way answers, and leave nothing behind")
  func crowd() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    fixture.clock.advance(by: 3_601)
    let count = 2_000
    for number in 0..<count { try ask(fixture, Int64(number), TokenGet(account: "work")) }
    try ask(fixture, -1, TokenGet(account: "work"), id: .string("text"))
    try ask(fixture, -2, TokenGet(url: "http://127.0.0.1:8080/api/hello"))
    try ask(fixture, -3, TokenGet(account: "nobody"))
    try ask(fixture, -4, TokenGet(account: "work", minValiditySeconds: -1))
    try await eventually("all are answered") { answers.all.count == count + 4 }
    #expect(fixture.refreshes == 1)
    let general = try await fixture.call(TokenGet(account: "work"))
    for number in 0..<Int64(count) {
      let expected = AnswerLine.success(.number(number), general)
      guard answers.all[number] == String(decoding: expected, as: UTF8.self) else {
        Issue.record("\(number): \(answers.all[number] ?? "")")
        return
      }
    }
    #expect(
      answers.all[-1] == String(decoding: AnswerLine.success(.string("text"), general), as: UTF8.self))
    #expect(answers.all[-2]?.contains(#""matched_host":"http://127.0.0.1:8080""#) == true)
    #expect(answers.all[-3]?.contains("account_unknown") == true)
    #expect(answers.all[-4]?.contains("bad_request") == true)
    #expect(await fixture.service.tokenWaiters.isEmpty)
    #expect(await fixture.service.tokenWaiters.deadlineCount == 0)
  }

  @Test("Those of a rejected token join the refresh that the first of them waits for, before it has begun too")
  func rejected() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    let token = try await fixture.call(TokenGet(account: "work")).fingerprint
    _ = try await fixture.call(TokenReject(account: "work", rejected: RejectedToken(fingerprint: token)))
    for number in 0..<500 { try ask(fixture, Int64(number), TokenGet(account: "work")) }
    try await eventually("all are answered") { answers.all.count == 500 }
    #expect(answers.all.values.allSatisfy { $0.contains("access_token") })
    #expect(fixture.refreshes == 1)
  }

  @Test("Each has its own patience, for which one sleep serves all; the refresh goes on")
  func patience() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    fixture.clock.advance(by: 3_601)
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 10_000 }
    for number in 0..<300 {
      try ask(
        fixture, Int64(number),
        TokenGet(account: "work", timeoutMilliseconds: number.isMultiple(of: 3) ? 1_000 : 20_000))
    }
    try await eventually("all wait") { await fixture.service.tokenWaiters.count == 300 }
    // The server's answer, the first of them, and what else is planned.
    #expect(fixture.clock.wakes.count <= 4)
    try await fixture.clock.sleepers(until: 1)
    fixture.clock.advance(by: 1)
    try await eventually("a third has no patience left") { answers.all.count == 100 }
    #expect(answers.all.values.allSatisfy { $0.contains(#""failure":"timeout""#) })
    fixture.clock.advance(by: 9)
    try await eventually("the others are answered") { answers.all.count == 300 }
    #expect(answers.all.values.count { $0.contains("access_token") } == 200)
    #expect(fixture.refreshes == 1)
    // Nobody sleeps for those who have left.
    try await eventually("only the plan sleeps") {
      fixture.clock.wakes.allSatisfy { $0 > fixture.clock.now().bootSeconds + 100 }
    }
  }

  @Test("A lock sends them away at once")
  func locked() async throws {
    let fixture = AgentFixture()
    try await fixture.logIn()
    fixture.clock.advance(by: 3_601)
    fixture.transport.withServer { $0.options.delayMilliseconds[.token] = 10_000 }
    for number: Int64 in 0..<100 { try ask(fixture, number, TokenGet(account: "work")) }
    try await eventually("all wait") { await fixture.service.tokenWaiters.count == 100 }
    async let isLocked = fixture.call(VaultLock())
    try await eventually("all are told") { answers.all.count == 100 }
    #expect(answers.all.values.allSatisfy { $0.contains("vault_locked") })
    fixture.clock.advance(by: 10)
    _ = try await isLocked
    try ask(fixture, 200, TokenGet(account: "work"))
    try await eventually("and who comes later") { answers.all[200]?.contains("vault_locked") == true }
  }
}
