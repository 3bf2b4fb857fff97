import AgentTestSupport
import AgentWire
import Sealing
import Testing

@testable import AgentCore

@Suite("Those who wait for tokens")
struct TokenWaitersTests {
  private actor Owner {
    let clock: ManualClock
    private(set) var waiters = TokenWaiters()
    private(set) var over: [[String: Set<UInt64>]] = []

    init(_ clock: ManualClock) { self.clock = clock }

    func add(_ id: UInt64, _ account: String, due: Double) {
      let question = TokenQuestion(id: .number(1), parameters: TokenGet(account: account)) { _ in }
      let meaning = CredentialService.Meaning(choice: .init(name: account, matchedHost: nil), key: .standard)
      waiters.add(
        TokenWaiters.Waiter(
          account: account, asked: AccountStateMachine.Waiter(id: id, deadline: 0),
          answered: .caller(question, meaning)), id)
      waiters.limit(id, to: due)
      watch()
    }

    func take(_ id: UInt64) -> Bool { waiters.take(id) != nil }

    private func watch() {
      waiters.watch(by: clock, on: self) { owner in
        owner.over.append(owner.waiters.overdue(at: owner.clock.now().bootSeconds))
        owner.watch()
      }
    }
  }

  private let clock = ManualClock(bootSeconds: 1_000)

  @Test("one sleep ends the patience of all, account by account, and they are still there to be answered")
  func patience() async throws {
    let owner = Owner(clock)
    for (id, account, due) in [(1, "work", 1_020), (2, "work", 1_010), (3, "home", 1_010), (4, "home", 1_030)] {
      await owner.add(UInt64(id), account, due: Double(due))
    }
    try await eventually("it sleeps to the first") { clock.wakes == [1_010] }
    clock.advance(to: 1_010)
    try await eventually("they are over") { await owner.over == [["work": [2], "home": [3]]] }
    #expect(await owner.waiters.count == 4)
    try await eventually("it sleeps to the next") { clock.wakes == [1_020] }
  }

  @Test("when the last one is answered nobody sleeps")
  func last() async throws {
    let owner = Owner(clock)
    await owner.add(1, "work", due: 1_010)
    try await eventually("it sleeps") { clock.wakes == [1_010] }
    let taken = [await owner.take(1), await owner.take(1)]
    #expect(taken == [true, false])
    try await eventually("nobody sleeps") { clock.wakes == [] }
    #expect(await owner.waiters.isEmpty)
  }

  @Test("the last reply is given again while somebody has it, and to nobody with another token")
  func lastReply() {
    var waiters = TokenWaiters()
    let key = TokenWaiters.MadeReply.Key(account: "work", fingerprint: Fingerprint(of: Secret("a1")))
    let other = TokenWaiters.MadeReply.Key(account: "work", fingerprint: Fingerprint(of: Secret("a2")))
    do {
      let reply = ReadyToken(
        accessToken: Secret("a1"),
        frame: TokenAnswerFrame(
          tokenType: "Bearer", scope: [], account: "work", accountID: "0", fingerprint: "f", gitUsername: nil),
        endBootSeconds: nil, defaultMinimumValidity: 0)
      waiters.keep(reply, key)
      #expect(waiters.lastReply(key) === reply && waiters.lastReply(other) == nil)
    }
    #expect(waiters.lastReply(key) == nil)
  }
}
