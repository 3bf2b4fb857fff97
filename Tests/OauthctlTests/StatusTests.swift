import ArgumentParser
import AgentWire
import Testing

@testable import oauthctl

@Suite("Status")
struct StatusTests {
  private static let accounts = [
    account("old", .loginRequired, expiresIn: nil, reason: "the server\u{1B}[1m refused"),
    account("work", .ok, expiresIn: 7_140, reason: nil),
  ]

  private static func account(
    _ name: String, _ state: AccountSummary.State, expiresIn: Int?, reason: String?
  ) -> AccountSummary {
    AccountSummary(
      account: name, accountID: "0", state: state, reason: reason, issuer: "https://gitlab.example.com",
      host: "gitlab.example.com", hosts: ["https://gitlab.example.com"], clientID: "c", grant: "authorization_code",
      scope: [], expiresAt: nil, expiresInSeconds: expiresIn, loginExpiresAt: nil, renewable: true)
  }

  private static let answer = AgentStatusAnswer(
    pid: 4_711, agentVersion: "0", started: "on_demand", startedAt: 0,
    vault: VaultStatusAnswer(state: .open, slots: ["key_file", "recovery_code"], path: "/v"), degraded: [],
    problems: [],
    counts: [:], accounts: accounts, next: nil)

  private static func lines(columns: Int?, color: Bool = false) -> [String] {
    StatusPage(status: answer, accounts: accounts, now: 0, isFrame: columns != nil).lines(
      Page().terminal(columns: columns, usesColor: color))
  }

  @Test("Outside of a frame nothing that is to be typed is cut")
  func whole() {
    let page = StatusPage(status: Self.answer, accounts: Self.accounts, now: 0).lines(Page().terminal(columns: 30))
    #expect(page.last == "agent    pid 4711, started on demand · vault open (key file)")
  }

  @Test("A folder that cannot be used is told once, however many accounts are in it")
  func folder() {
    var answer = Self.answer
    let step = NextStep.run("chmod go-w /d")
    answer.problems = [ConfigurationProblem(file: "/d", line: nil, key: nil, reason: "the folder is open", hint: step)]
    var other = Self.account("other", .configInvalid, expiresIn: nil, reason: "its file is gone")
    other.hint = "put it back"
    let accounts = ["a", "b"].map { name in
      var account = Self.account(name, .configInvalid, expiresIn: nil, reason: answer.problems[0].sentence)
      (account.hint, account.hintKind) = (step.text, step.kind)
      return account
    }
    let page = StatusPage(status: answer, accounts: accounts + [other], now: 0).lines(Page().terminal())
    #expect(
      page.dropFirst(4) == [
        "other: its file is gone", "  put it back", "agent    pid 4711, started on demand · vault open (key file)",
        "/d: the folder is open", "  run: chmod go-w /d",
      ])
  }

  @Test("A wide page has every column")
  func wide() {
    #expect(
      Self.lines(columns: nil) == [
        "ACCOUNT  STATE         TOKEN LEFT  LOGIN LASTS  SERVER",
        "old      login needed  -           -            gitlab.example.com",
        "work     ok            1 h 59 min  not told     gitlab.example.com", "old: the server\\u{1B}[1m refused",
        "agent    pid 4711, started on demand · vault open (key file)",
      ])
  }

  @Test(
    "Columns go, the least important first, until the page fits",
    arguments: [
      (80, "ACCOUNT  STATE         TOKEN LEFT  LOGIN LASTS  SERVER"),
      (66, "ACCOUNT  STATE         TOKEN LEFT  LOGIN LASTS  SERVER"),
      (65, "ACCOUNT  STATE         TOKEN LEFT  SERVER"), (52, "ACCOUNT  STATE         TOKEN LEFT"),
      (33, "ACCOUNT  STATE         TOKEN LEFT"),
      (32, "ACCOUNT  STATE"), (20, "ACCOUNT  STATE"),
    ])
  func narrow(columns: Int, header: String) {
    let lines = Self.lines(columns: columns)
    #expect(lines[0] == header)
    #expect(lines.allSatisfy { $0.count <= columns })
    #expect(lines.count == 5)
  }

  @Test(
    "Of problems in files the first ten are shown, and how many more there are",
    arguments: [(0, nil), (3, 39), (42, nil)])
  func problems(_ listed: Int, _ leftOut: Int?) {
    var answer = Self.answer
    answer.problems = (0..<listed).map { ConfigurationProblem(file: "/f\($0)", line: 1, key: "k", reason: "bad\u{1B}") }
    answer.problemsLeftOut = leftOut
    let page = StatusPage(status: answer, accounts: Array(Self.accounts.suffix(1)), now: 0)
      .lines(Page().terminal(columns: nil)).dropFirst(3)
    let shown = min(listed, 10)
    #expect(page.prefix(shown) == (0..<shown).map { "/f\($0):1: k: bad\\u{1B}" }[...])
    let more = listed - shown + (leftOut ?? 0)
    let step = listed == 0 ? [] : ["  put that right: the agent reads it again by itself"]
    #expect(
      page.dropFirst(shown) == (step + (more == 0 ? [] : ["and \(more) more problems in configuration files"]))[...])
  }

  @Test("A page without an account says how to make one")
  func none() {
    let page = StatusPage(status: Self.answer, accounts: [], now: 0).lines(Page().terminal(columns: nil))
    #expect(page.prefix(2) == ["no account yet", "  " + NextStep.firstLogin().line])
  }

  @Test("Colour changes no column")
  func color() {
    let lines = Self.lines(columns: 80, color: true)
    #expect(lines[1] == "old      \u{1B}[31mlogin needed\u{1B}[0m  -           -            gitlab.example.com")
    #expect(lines[2] == "work     \u{1B}[32mok\u{1B}[0m            1 h 59 min  not told     gitlab.example.com")
  }

  @Test("All pages are asked for, and JSON holds them all")
  func pages() throws {
    let page = Page()
    let context = CommandContext.scripted(page) { parameters throws(CommandError) in
      guard let request = parameters as? AgentStatus else { throw .silent(status: 1) }
      var answer = Self.answer
      answer.accounts = request.after == nil ? [Self.accounts[0]] : [Self.accounts[1]]
      answer.next = request.after == nil ? "x" : nil
      return answer
    }
    var command = try #require(try Oauthctl.parseAsRoot(["status"]) as? StatusCommand)
    try command.run(context)
    #expect(page.output.contains("\nold ") && page.output.contains("\nwork "))
    page.output = ""
    command.json = true
    try command.run(context)
    #expect(page.output.contains("\"account\" : \"old\"") && page.output.contains("\"account\" : \"work\""))
    #expect(!page.output.unicodeScalars.contains { $0.value == 0x1B })
  }

  @Test(
    "Times are said in two units at most",
    arguments: [
      (-5, "0 s"), (0, "0 s"), (45, "45 s"), (61, "1 min 1 s"), (600, "10 min"), (659, "10 min"), (3_600, "1 h"),
      (7_140, "1 h 59 min"), (7_200, "2 h"), (86_399, "23 h 59 min"), (90_000, "1 d 1 h"), (172_800, "2 d"),
    ])
  func durations(seconds: Int, text: String) { #expect(Duration.text(seconds: seconds) == text) }

  @Test(
    "COLUMNS decides where it is sensible",
    arguments: [("80", 80), ("20", 20), ("19", nil), ("x", nil), ("", nil), ("-5", nil)] as [(String, Int?)])
  func columns(text: String, columns: Int?) {
    #expect(Terminal.columns(Environment(["COLUMNS": text]), of: nil) == columns)
  }
}
