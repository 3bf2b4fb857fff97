import AgentWire
import Testing

@testable import oauthctl

@Suite("Status, watched")
struct WatchTests {
  private static func account(
    _ name: String, _ state: AccountSummary.State, expiresAt: Int? = nil, reason: String? = nil
  )
    -> AccountSummary
  {
    AccountSummary(
      account: name, accountID: "0", state: state, reason: reason, issuer: "https://h", host: "h", hosts: ["h"],
      clientID: "c", grant: "authorization_code", scope: [], expiresAt: expiresAt,
      expiresInSeconds: expiresAt.map { $0 - 100 }, loginExpiresAt: nil, renewable: true)
  }

  private static func status(_ accounts: [AccountSummary], pid: Int = 1) -> AgentStatusAnswer {
    AgentStatusAnswer(
      pid: pid, agentVersion: "0", started: "systemd", startedAt: 0,
      vault: VaultStatusAnswer(state: .open, slots: ["key_file"], path: "/v"), degraded: [], problems: [], counts: [:],
      accounts: accounts, next: nil)
  }

  @Test("Every change is one line, and time alone is none")
  func changes() {
    var changes = StatusChanges()
    func lines(_ look: Result<AgentStatusAnswer, CommandError>, now: Int = 100) -> [String] {
      changes.lines(look, now: now).map { String($0.dropFirst("1970-01-01T00:01:40Z ".count)) }
    }
    let agent = "agent    pid 1, started by systemd · vault open (key file)"
    let work = Self.account("work", .ok, expiresAt: 400)
    #expect(lines(.success(Self.status([work]))) == [agent, "work ok for 5 min"])
    #expect(lines(.success(Self.status([work])), now: 130) == [])
    #expect(
      lines(.success(Self.status([Self.account("work", .ok, expiresAt: 700)])), now: 100)
        == ["work ok, renewed for 10 min"])
    let dead = Self.account("work", .loginRequired, reason: "refused\u{1B}[1m\n")
    #expect(lines(.success(Self.status([dead]))) == ["work login needed: refused\\u{1B}[1m\\u{A}"])
    let gone = CommandError.notReachable("nobody listens")
    #expect(lines(.failure(gone)) == ["agent    nobody listens"])
    #expect(lines(.failure(gone)) == [])
    #expect(lines(.success(Self.status([]))) == [agent, "work forgotten"])
    #expect(lines(.success(Self.status([], pid: 2))).count == 1)
  }

  @Test("A frame erases what it does not write, and never scrolls")
  func frame() {
    let accounts = (1...9).map { Self.account("a\($0)", .ok, expiresAt: 400) }
    let terminal = Page().terminal(columns: 30)
    for rows in [nil, 20, 12, 5] as [Int?] {
      let frame = StatusWatch.frame(.success(Self.status(accounts)), terminal, rows: rows, 100)
      #expect(frame.hasPrefix("\u{1B}[HACCOUNT") && frame.hasSuffix("\u{1B}[K\n\u{1B}[J"))
      let lines = frame.split(separator: "\n").dropLast()
      #expect(lines.allSatisfy { $0.hasSuffix("\u{1B}[K") })
      #expect(lines.count == (rows == 5 ? 4 : 11))
      #expect(frame.contains("… 8 more lines") == (rows == 5))
    }
  }

  @Test("JSON is a line for each change; another agent is asked after the first look; failures of their own end it")
  func json() throws {
    let page = Page()
    let looks = Looks([
      .success(Self.status([Self.account("work", .ok, expiresAt: 400)])), .failure(.noAnswer("late", next: "x")),
      .failure(.noAnswer("late", next: "x")), .success(Self.status([])), .failure(.silent(status: 8)),
    ])
    let first = ScriptedAgent { _ throws(CommandError) in try looks.next() }
    let later = ScriptedAgent { _ throws(CommandError) in try looks.next(isLater: true) }
    #expect(throws: CommandError.silent(status: 8)) {
      try StatusWatch(
        isJSON: true, isRedrawn: false, pause: { .look }, terminal: { page.terminal() }, rows: { nil }, now: { 0 }
      ).run(first: first, later: later)
    }
    let lines = page.output.split(separator: "\n")
    #expect(
      lines.count == 3 && lines[0].contains("\"account\":\"work\"") && lines[1].hasPrefix(#"{"error":{"exit":6,"#))
    #expect(looks.later == 4)
  }
}

extension WatchTests {
  @Test("A page is drawn again as time goes by, without asking; a wait that ends ends the watch")
  func redraws() throws {
    let page = Page()
    let looks = Looks([.success(Self.status([Self.account("work", .ok, expiresAt: 400)]))])
    var time = 100
    var waits: [StatusWatch.Next] = [.redraw, .end]
    try StatusWatch(
      isJSON: false, isRedrawn: true,
      pause: {
        time += 60
        return waits.removeFirst()
      }, terminal: { page.terminal() }, rows: { nil }, now: { time }
    ).run(
      first: ScriptedAgent { _ throws(CommandError) in try looks.next() },
      later: ScriptedAgent { _ throws(CommandError) in try looks.next(isLater: true) })
    #expect(page.output.contains("ok     5 min") && page.output.contains("ok     4 min"))
    #expect(looks.later == 0 && waits.isEmpty)
  }
}

/// Answers in their order.
private final class Looks: @unchecked Sendable {
  private var answers: [Result<AgentStatusAnswer, CommandError>]
  private(set) var later = 0

  init(_ answers: [Result<AgentStatusAnswer, CommandError>]) { self.answers = answers }

  func next(isLater: Bool = false) throws(CommandError) -> AgentStatusAnswer {
    if isLater { later += 1 }
    return try answers.removeFirst().get()
  }
}
