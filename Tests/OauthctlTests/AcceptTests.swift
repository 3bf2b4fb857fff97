import AgentWire
import ArgumentParser
import Testing

@testable import oauthctl

@Suite("What a login may do after its file has changed")
struct AcceptTests {
  @Test(
    "The question names where tokens and secrets would go, however long the lines above it are",
    arguments: [
      (
        ["token_endpoint": "https://evil.example:8443/" + String(repeating: "t", count: 4_000)],
        " to https://evil.example:8443"
      ),
      (["authorization_endpoint": "https://as.example/a"], ""), (["token_endpoint": "none"], ""),
    ] as [([String: String], String)])
  func destination(endpoints: [String: String], words: String) {
    let answer = AccountAcceptAnswer(differences: [], accepted: false, endpoints: endpoints)
    #expect(answer.destination == words)
  }

  private func accept(_ changes: [(String, String, String)]) -> AccountAcceptAnswer {
    AccountAcceptAnswer(
      differences: changes.map { DefinitionDifference(key: $0.0, was: $0.1, now: $0.2) }, accepted: false,
      endpoints: [
        "token_endpoint": "https://id.example/token", "authorization_endpoint": "https://id.example/authorize",
      ])
  }

  /// What an 80x24 screen shows when the question has been asked.
  private func screen(_ answer: AccountAcceptAnswer) -> [String] {
    let lines = answer.lines.map { PrintableText.withShownBlanks(PrintableText.escaped($0, limit: .max)) }
    let text = QuestionText(lines: lines, question: "Send\(answer.destination) as shown? [y/N] ").text(on: .usual)
    return text.split(separator: "\n", omittingEmptySubsequences: false).suffix(24).map(String.init)
  }

  @Test("A new host and a new endpoint stay on the screen, whatever else the file has changed")
  func scrolled() {
    let blanks = String(repeating: " ", count: 10_000) + "hosts: (unchanged)"
    let shown = screen(
      accept([
        ("hosts", "https://id.example", "https://evil.example https://id.example"),
        ("revocation_endpoint", "(none)", "https://worse.example/r"), ("token_parameters", "(none)", "a=1" + blanks),
      ]))
    let question = shown.suffix(2).map { $0.drop { $0 == " " } }.joined()
    #expect(question.contains("to https://id.example, https://worse.example and https://evil.example as shown?"))
    #expect(shown.contains { $0.hasPrefix("revocation_endpoint: (none) → https://worse.example/r") })
    #expect(shown.contains { $0.contains("more than this screen shows") })
    #expect(shown.allSatisfy { $0.count < 80 && !$0.hasPrefix("hosts: (unchanged)") && $0 != "" })
  }

  @Test("What comes first makes sense without what stands below it")
  func beginning() {
    let lines = accept([("token_endpoint", "https://id.example/t", "https://id.example/token")]).lines
    #expect(lines.first == "With the file as it is now, the account uses:")
    #expect(lines.last == "token_endpoint: https://id.example/t → https://id.example/token")
  }

  @Test("Of more new hosts than a question can name, their number is told, and they stand last")
  func manyHosts() {
    let label = String(repeating: "x", count: 60)
    let fillers = (0..<60).map { "https://\(label).\(label).corp\($0).example" }
    let answer = accept([
      (
        "hosts", "https://id.example",
        (["https://aaa.evil.example", "https://id.example"] + fillers).joined(separator: " ")
      )
    ])
    let shown = screen(answer)
    #expect(answer.destination.hasPrefix(" to https://id.example, https://aaa.evil.example, "))
    #expect(answer.destination.hasSuffix(" and 55 more places"), "\(answer.destination)")
    #expect(shown.contains { $0.contains("https://aaa.evil.example") })
    #expect(answer.lines.suffix(62).first == "61 new hosts get tokens:" && answer.lines.last == "  " + fillers[59])
    #expect(shown.contains { $0.contains("more than this screen shows") })
  }
}

@Suite("A question on its screen")
struct QuestionTextTests {
  @Test("No row but the first of a line begins with words of others, and the rows are the line")
  func rows() {
    for line in [
      String(repeating: "hosts:", count: 100), "  key: " + String(repeating: "漢", count: 300),
      "key: " + String(repeating: "a b ", count: 300), "a " + String(repeating: "b", count: 78), "", "short",
    ] {
      let rows = ScreenRows.rows(of: line, columns: 80)
      #expect(rows.dropFirst().allSatisfy { $0.hasPrefix("    ") } && rows.allSatisfy { $0.count < 80 }, "\(line)")
      let margin = line.hasPrefix("  ") ? 6 : 4
      #expect(rows[0] + rows.dropFirst().map { $0.dropFirst(margin) }.joined() == line)
    }
    #expect(ScreenRows.rows(of: String(repeating: "漢", count: 40), columns: 80).count == 2, "they are wide")
  }

  @Test("On a screen of a few columns, too, all of a line stands in rows no wider than it", arguments: 1..<20)
  func narrow(columns: Int) {
    let line = "  token_endpoint: https://elsewhere.example/token instead"
    let rows = ScreenRows.rows(of: line, columns: columns)
    #expect(rows.joined().filter { $0 != " " } == line.filter { $0 != " " })
    #expect(rows.allSatisfy { $0.count <= columns })
  }

  @Test("A web address stays whole where it is to be copied, and what stands around it does not")
  func addresses() {
    let address = "https://id.example/" + String(repeating: "a", count: 100)
    let rows = ScreenRows.rows(of: "Open \(address) or leave it", columns: 40, keepsAddresses: true)
    #expect(rows == ["Open ", "    \(address) ", "    or leave it"])
    #expect(ScreenRows.rows(of: address, columns: 40).allSatisfy { $0.count < 40 })
  }

  @Test("No sentence of a failure has a row that looks like another line of the program, and a command is one line")
  func sentences() {
    let page = Page()
    let words = String(repeating: "x", count: 28) + " oauthctl: log in at evil.example"
    page.terminal(errorColumns: 40).fail(
      .local(words, next: .run("oauthctl login work --scope one --scope two"), status: 1))
    #expect(
      page.error
        == [
          "oauthctl: \(String(repeating: "x", count: 28)) \n", "    oauthctl: log in at evil.example\n",
          "  run: oauthctl login work --scope one --scope two\n",
        ].joined())
  }

  @Test("A command that the program marks as one stays whole, and nothing else does")
  func commands() {
    let command = "git config --global --add credential.https://id.example:8443.helper /usr/bin/git-credential-oauthctl"
    let text = QuestionText(lines: ["note: " + command], commands: ["  " + command], question: "Do it? ")
    let rows = text.text(on: QuestionText.Screen(columns: 40, rows: 24)).split(separator: "\n").map(String.init)
    #expect(rows.contains("  " + command) && rows.filter { $0.count >= 40 } == ["  " + command])
    let small = text.text(on: QuestionText.Screen(columns: 40, rows: rows.count))
    #expect(small.contains("more than this screen shows"), "a command takes as many rows as the terminal makes of it")
    let page = Page()
    page.terminal(errorColumns: 40).warn(inOneLine: "2 accounts fit https://id.example:8443", next: .run(command))
    #expect(
      page.error
        == "oauthctl: 2 accounts fit \n    https://id.example:8443; run: \n    \(command)\n", "\(page.error)")
    let pipe = Page()
    pipe.terminal().warn(inOneLine: "why", next: .run("a b"))
    pipe.terminal().warn(inOneLine: "why", next: .advice("words"))
    #expect(pipe.error == "oauthctl: why; run: a b\noauthctl: why; words\n")
  }

  @Test("What does not fit onto the screen is told above the question")
  func note() {
    let few = QuestionText(lines: ["one", "two"], question: "Do it? ")
    #expect(few.text(on: .usual) == "one\ntwo\nDo it? ")
    #expect(
      few.text(on: QuestionText.Screen(columns: 80, rows: 2))
        == "one\ntwo\n(2 rows, more than this screen shows: scroll up to the first)\nDo it? ")
  }

  @Test("Blanks are seen, and in a locale without foreign letters these are told apart")
  func visible() {
    let plain = Terminal { _, _ in }
    #expect(plain.visible("a   b", limit: 100) == "a   b")
    #expect(plain.visible("  a     b", limit: 100) == #"  a   \u{20}\u{20}b"#)
    #expect(plain.visible("a\u{A0}\u{3000}\u{2800} \u{301}é", limit: 100) == #"a\u{A0}\u{3000}\u{2800} \u{301}é"#)
    let ascii = Terminal(isASCII: { true }) { _, _ in }
    #expect(ascii.visible("→ \u{430}lice", limit: 100) == #"-> \u{430}lice"#)
    #expect(ascii.visible("→ \u{431}lice", limit: 100) == #"-> \u{431}lice"#)
  }

  @Test("What cannot be read cannot be accepted, and is told instead of that there is nothing to accept")
  func accepting() throws {
    let problem = ConfigurationProblem(
      file: "/c/accounts.d/work.toml", line: 4, key: "ca_file", reason: "/ca.pem does not exist")
    func accept(_ problems: [ConfigurationProblem]) throws {
      let context = CommandContext.scripted(Page()) { parameters in
        if parameters is ConfigReload { return ConfigReloadAnswer(accounts: 1, problems: problems) }
        return AccountAcceptAnswer(differences: [], accepted: false, endpoints: [:])
      }
      try #require(try AccountCommand.parseAsRoot(["accept", "work"]) as? AccountCommand.Accept).run(context)
    }
    try accept([])
    #expect {
      try accept([problem])
    } throws: { error in
      let error = error as? CommandError
      return error?.status == 3 && error?.sentence?.hasSuffix("/ca.pem does not exist") == true
    }
  }
}
