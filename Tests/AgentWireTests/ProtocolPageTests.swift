import FoundationEssentials
import JSONCoding
import Testing

@testable import AgentWire

/// docs/protocol.md, and what its tables say.
private struct ProtocolPage {
  let text: String

  init(from file: String = #filePath) throws {
    let root = file.split(separator: "/").dropLast(3).joined(separator: "/")
    text = String(
      decoding: try #require(FileManager.default.contents(atPath: "/\(root)/docs/protocol.md")), as: UTF8.self)
  }

  /// Every word that stands in marks of code.
  var words: [String] { Array(Set(text.matches(of: #/`(\w+)`/#).map { String($0.1) })).sorted() }

  /// What stands below a heading, up to the next.
  func section(_ heading: String) throws -> Substring {
    let rest = try #require(text.firstRange(of: "\n\(heading)\n"), "\(heading)").upperBound
    return text[rest...].prefix(upTo: text[rest...].firstRange(of: "\n##")?.lowerBound ?? text.endIndex)
  }

  func section(of method: Method) throws -> Substring { try section("### `\(method.rawValue)`") }

  /// The rows of the table with this head, cell by cell.
  static func rows(below head: String, in text: Substring) -> [[String]] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0 == head }) else { return [] }
    return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      line.dropFirst().split(separator: "|").map { String($0.trimming(" ")) }
    }
  }

  /// The members that a section's table of parameters or results names, with what it says of each.
  static func members(_ title: String, in section: Substring) -> [(name: String, told: String)] {
    rows(below: "| \(title) | value |", in: section).map { ($0[0].replacing("`", with: ""), $0.dropFirst().joined()) }
  }
}

extension Substring {
  fileprivate func trimming(_ character: Character) -> Substring {
    var rest = self
    while rest.first == character { rest.removeFirst() }
    while rest.last == character { rest.removeLast() }
    return rest
  }
}

@Suite("docs/protocol.md says what the source says")
struct ProtocolPageTests {
  private let page: ProtocolPage

  init() throws { page = try ProtocolPage() }

  @Test("Each method has a section of its own")
  func sections() {
    let sections = page.text.matches(of: #/(?m)^### `([a-z._]+)`$/#).map { String($0.1) }
    #expect(sections.sorted() == Method.allCases.map(\.rawValue).sorted())
  }

  @Test("Parameters and results of each method", arguments: Method.allCases)
  func members(_ method: Method) throws {
    func compare<P: RequestParameters>(_ type: P.Type) throws {
      let section = try page.section(of: method)
      let parameters = ProtocolPage.members("parameter", in: section)
      #expect(parameters.map(\.name).sorted() == P.Keys.allCases.map(\.stringValue).sorted())
      let required = parameters.filter { $0.told.hasPrefix("required") }.map(\.name)
      #expect(required.sorted() == (try MemberRecorder(P.self, texts: page.words)).required.sorted())
      let shared = section.firstMatch(of: #/Answers as `([a-z._]+)`/#).flatMap { Method(rawValue: String($0.1)) }
      let results = ProtocolPage.members("result", in: try shared.map { try page.section(of: $0) } ?? section)
      #expect(results.map(\.name).sorted() == (try MemberRecorder(P.Answer.self, texts: page.words)).members.sorted())
    }
    try method.withParameters { try compare($0) }
  }

  @Test("A problem, an account and its states")
  func accounts() throws {
    let pattern = #/(?s)A problem: (.*?)\. An account: (.*?)\. Its `state` is one of (.*?)\.\n/#
    let told = try #require(page.text.firstMatch(of: pattern))
    func words(_ text: Substring) -> [String] { text.matches(of: #/`(\w+)`/#).map { String($0.1) } }
    #expect(words(told.1) == (try MemberRecorder(ConfigurationProblem.self, texts: [])).members)
    #expect(words(told.2).sorted() == (try MemberRecorder(AccountSummary.self, texts: page.words)).members.sorted())
    #expect(words(told.3) == AccountSummary.State.allCases.map(\.rawValue))
  }

  @Test(
    "The members of an event",
    arguments: [
      .account("a", state: .ok, reason: "r", expiresAt: 1), .vault(.open, reason: "r"), .problems(1), .lost(1),
    ] as [AgentEvent])
  func events(_ event: AgentEvent) throws {
    let told = page.text.matches(of: #/(?m)^\| `(events\.\w+)` \| (`.*?) \|/#)
    #expect(Set(told.map { String($0.1) }) == Set(AgentEvent.Name.allCases.map(\.rawValue)))
    let row = try #require(told.first { $0.1 == event.name.rawValue })
    let shape = try JSONShape(Array(event.line.dropLast()), nesting: WireLimits.nesting)
    let parameters = try #require(shape.top.member("params"))
    #expect(row.2.matches(of: #/`(\w+)`/#).map { String($0.1) }.sorted() == parameters.members.map(\.name).sorted())
  }

  @Test("The limits")
  func limits() throws {
    let told = ProtocolPage.rows(below: "| what | limit |", in: try page.section("## Limits"))
    #expect(
      told.flatMap { $0[1].matches(of: #/\d+/#).compactMap { Int($0.0) } } == [
        WireLimits.requestBytes, WireLimits.answerBytes, WireLimits.nesting, WireLimits.lineSeconds,
        WireLimits.idleSeconds, WireLimits.requestsInFlight, WireLimits.connections, WireLimits.ownBytes,
        WireLimits.sharedBytes, WireLimits.tokenRequests, WireLimits.listings, WireLimits.otherRequests,
        WireLimits.subscribers, WireLimits.eventsKept, WireLimits.browserLogins, WireLimits.identifierBytes,
        WireLimits.tokenBytes, 1, WireLimits.timeoutMilliseconds, WireLimits.defaultTimeoutMilliseconds,
        WireLimits.pageSize,
      ])
  }
}
