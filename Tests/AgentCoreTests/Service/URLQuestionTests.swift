import AgentTestSupport
import AgentWire
import Testing

@testable import AgentCore

@Suite("Questions by URL, answered on the event loop")
struct URLQuestionTests {
  /// What happens to some accounts by chance, and how both ways answer after each step.
  private struct World {
    static let names = ["a", "b", "c", "d"]
    static let hosts = ["https://one.example", "https://two.example:8443", "http://127.0.0.1:8080"]
    static let others = ["https://two.example", "http://one.example", "https://user@one.example", "ssh://one.example"]
    static let endings = ["", "/", "/team", "/team/app.git", "/team/app/x", "/teams/x", "/x?y=1"]
    static let wrongEndings = ["/a/../b", "/%zz", "/#"]

    var dice: Dice
    var fixture = AgentFixture([])
    var definitions: [String: AccountDefinition] = [:]
    var broken: Set<String> = []
    var steps = 0
    var answered = 0

    init(seed: Int) async {
      dice = Dice(seed: UInt64(seed + 1))
      for name in Self.names { definitions[name] = definition(name) }
      await read()
      for name in Self.names { _ = try? await fixture.logIn(name, request: name) }
    }

    private mutating func some<Value>(_ values: [Value]) -> Value { values[dice.roll(values.count)] }

    mutating func step() async throws {
      steps += 1
      let name = some(Self.names)
      switch dice.roll(14) {
      case 0...3: definitions[name] = definition(name)
      case 4: definitions[name] = nil
      case 5: broken.insert(name)
      case 6:
        broken = []
        for name in Self.names where definitions[name] == nil { definitions[name] = definition(name) }
      case 7, 8, 9: _ = try? await fixture.logIn(name, request: "\(steps)")
      case 10: _ = try? await fixture.call(Logout(account: name))
      case 11: try await reject(name)
      case 12: try await accept(name)
      default: try await pass()
      }
      await read()
    }

    /// Nothing is refreshed by plan: nothing happens between two questions.
    private mutating func definition(_ name: String) -> AccountDefinition {
      let hosts = Self.hosts.filter { _ in dice.roll(2) == 0 }
      return AccountDefinition(
        name: name, file: file(name), issuer: Self.hosts[2], clientID: "dev", hosts: hosts,
        username: dice.roll(3) == 0 ? "person" : nil, keep: .onDemand, gitUsername: some(["oauth2", "git"]),
        paths: some([[], [], ["team"], ["team/app", "x"]]), isDefault: dice.roll(3) == 0)
    }

    private func file(_ name: String) -> String { "/etc/accounts.d/\(name).toml" }

    private func read() async {
      fixture.configuration.set(
        definitions.values.filter { !broken.contains($0.name) },
        problems: broken.map { ConfigurationProblem(file: file($0), line: 1, key: nil, reason: "broken") })
      _ = try? await fixture.call(ConfigReload())
    }

    private func reject(_ name: String) async throws {
      guard let token = try? await fixture.call(TokenGet(account: name)) else { return }
      _ = try await fixture.call(
        TokenReject(account: name, rejected: RejectedToken(fingerprint: token.fingerprint)))
    }

    private func accept(_ name: String) async throws {
      guard let shown = try? await fixture.call(AccountAccept(account: name, dryRun: true)),
        let digest = shown.bindingDigest
      else { return }
      _ = try? await fixture.call(AccountAccept(account: name, bindingDigest: digest))
    }

    /// Time, a restart, a lock.
    private mutating func pass() async throws {
      switch dice.roll(4) {
      case 0: fixture = fixture.restarted()
      case 1:
        _ = try await fixture.call(VaultLock())
        try await compare()
        _ = try await fixture.call(VaultUnlock())
      default: fixture.clock.advance(by: Double(dice.roll(3_000)))
      }
    }

    mutating func compare() async throws {
      for _ in 0..<5 {
        let url =
          (dice.roll(6) == 0 ? some(Self.others + ["https://ONE.example:443"]) : some(Self.hosts))
          + some(dice.roll(10) == 0 ? Self.wrongEndings : Self.endings)
        let account = dice.roll(4) == 0 ? some(Self.names) : nil
        let least = dice.roll(4) == 0 ? dice.roll(3_600) : nil
        await compare(TokenLine.Request(id: .number(7), account: account, url: url, minValiditySeconds: least))
      }
    }

    private mutating func compare(_ request: TokenLine.Request) async {
      let parameters = TokenGet(
        account: request.account, url: request.url, minValiditySeconds: request.minValiditySeconds)
      let atOnce = fixture.router.readyAnswer(to: request, from: fixture.caller)
      let slow = try? await fixture.call(parameters)
      let expected = slow.map { AnswerLine.success(request.id, $0) }
      if let atOnce {
        answered += 1
        #expect(atOnce == expected, "step \(steps): \(request) \(String(decoding: atOnce, as: UTF8.self))")
      }
      // What is answered at once by name is answered at once by URL, where every file can be read.
      guard let slow, slow.warning == nil, broken.isEmpty, definitions.count == Self.names.count else { return }
      let named = TokenLine.Request(
        id: request.id, account: slow.account, minValiditySeconds: request.minValiditySeconds)
      guard fixture.router.readyAnswer(to: named, from: fixture.caller) != nil else { return }
      #expect(
        fixture.router.readyAnswer(to: request, from: fixture.caller) == expected,
        "step \(steps): \(request) had to wait")
    }
  }

  @Test("are answered as the service answers them, whatever becomes of the accounts, or left to it", arguments: 0..<8)
  func sameAnswers(seed: Int) async throws {
    var world = await World(seed: seed)
    for _ in 0..<25 {
      try await world.step()
      try await world.compare()
    }
    #expect(world.answered > 0, "nothing was compared")
  }

  private func asked(_ fixture: AgentFixture, _ url: String) -> String? {
    let line = fixture.router.readyAnswer(to: TokenLine.Request(id: .number(1), url: url), from: fixture.caller)
    return line.flatMap { line in
      let answer = try? AnswerLine.parse(Array(line.dropLast()), as: TokenAnswer.self).result.get()
      return answer.map { "\($0.account) \($0.matchedHost ?? "-")" }
    }
  }

  @Test("The first after the files were read goes to the service, those after it are answered at once")
  func second() async throws {
    let fixture = AgentFixture([.browser.changed { $0.hosts = ["https://git.example"] }])
    try await fixture.logIn()
    #expect(asked(fixture, "https://git.example/x.git") == nil)
    #expect(try await fixture.call(TokenGet(url: "https://git.example")).account == "work")
    #expect(asked(fixture, "https://git.example/x.git") == "work https://git.example")
    _ = try await fixture.call(ConfigReload())
    #expect(asked(fixture, "https://git.example/x.git") == nil)
  }

  @Test("Where a file was broken since the start, the loop answers for no host of that login")
  func broken() async throws {
    let other = AccountDefinition.browser.changed { other in
      other.name = "other"
      other.file = "/etc/accounts.d/other.toml"
      other.hosts = ["https://git.example", "https://else.example"]
    }
    let work = AccountDefinition.browser.changed { $0.hosts = ["https://git.example"] }
    let first = AgentFixture([work, other])
    try await first.logIn("work", request: "1")
    try await first.logIn("other", request: "2")
    first.configuration.set(
      [other], problems: [ConfigurationProblem(file: work.file, line: 1, key: nil, reason: "broken")])
    let fixture = first.restarted()
    let answer = try await fixture.call(TokenGet(url: "https://git.example"))
    #expect(answer.account == "other" && answer.warning != nil)
    #expect(asked(fixture, "https://git.example/") == nil)
    #expect(asked(fixture, "https://else.example/") == "other https://else.example")
  }

  @Test("Among more accounts of one host than it may look through, the service chooses")
  func crowdedHost() async throws {
    let count = ReadyTokens.mostAtHost + 1
    let definitions = (1...count).map { number in
      AccountDefinition.browser.changed { definition in
        definition.name = "a\(number)"
        definition.file = "/etc/accounts.d/a\(number).toml"
        definition.hosts = ["https://git.example"]
      }
    }
    let fixture = AgentFixture(definitions)
    try await fixture.logIn("a1")
    #expect(try await fixture.call(TokenGet(url: "https://git.example")).account == "a1")
    #expect(asked(fixture, "https://git.example/") == nil)
    fixture.configuration.set(definitions.dropLast())
    _ = try await fixture.call(ConfigReload())
    #expect(try await fixture.call(TokenGet(url: "https://git.example")).account == "a1")
    #expect(asked(fixture, "https://git.example/") == "a1 https://git.example")
  }
}
