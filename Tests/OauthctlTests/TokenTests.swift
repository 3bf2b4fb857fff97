import AgentWire
import ArgumentParser
import FoundationEssentials
import Testing

@testable import oauthctl

@Suite("get-token")
struct TokenTests {
  @Test(
    "A token is printed as asked",
    arguments: [
      ("token", "tok\n"), ("header", "Authorization: Bearer tok\n"),
      ("headers", "{\"Authorization\":\"Bearer tok\"}\n"),
    ])
  func formats(format: String, output: String) throws {
    let page = Page()
    let context = CommandContext.scripted(page) { _ in TokenAnswer.example() }
    let command = try #require(try Oauthctl.parseAsRoot(["get-token", "work", "--format", format]) as? GetTokenCommand)
    try command.run(context)
    #expect(page.output == output)
    #expect(page.error.isEmpty)
  }

  @Test("A JSON object of headers is one whatever the token holds")
  func headersAreJSON() throws {
    let token = #"a"b\c/"#
    let text = try TokenFormat.headers.text(.example(token))
    let read = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
    #expect(read == ["Authorization": "Bearer \(token)"])
    #expect(throws: CommandError.self) { try TokenFormat.headers.text(.example("a\nb")) }
  }

  @Test("A token is told as a line of bytes too, and neither way when a header cannot carry it")
  func lines() throws {
    func line(_ token: String) throws -> [UInt8] { try AccessToken.line(Array("x\(token)".utf8)[1...]) }
    for token in ["t", "!~", String(repeating: "t0ken.", count: 900)] {
      #expect(try line(token) == Array("\(token)\n".utf8) && AccessToken.checked(token) == token)
    }
    for token in ["", " ", "a b", "a\n", "\u{7F}", "é", String(repeating: "t", count: 900) + "\u{1}"] {
      #expect(throws: CommandError.self) { try line(token) }
      #expect(throws: CommandError.self) { try AccessToken.checked(token) }
    }
  }

  @Test("A request with any parameter that the short spelling lacks is sent in the long one")
  func onlyPlainRequestsAreCanonical() {
    #expect(TokenGet(account: "work", url: "https://a", minValiditySeconds: 5).isCanonical)
    var wanting = TokenGet(account: "work")
    wanting.neededScope = ["a"]
    var forMore = TokenGet(account: "work")
    forMore.furtherURLs = ["https://b"]
    let others: [TokenGet] = [
      TokenGet(username: "a"), TokenGet(scope: []), TokenGet(resource: []), TokenGet(audience: []),
      TokenGet(rejected: RejectedToken(token: "t")), TokenGet(force: false), TokenGet(interaction: .never),
      TokenGet(timeoutMilliseconds: 1), TokenGet(bestEffort: false), wanting, forMore,
    ]
    for other in others { #expect(!other.isCanonical, "\(other)") }
    #expect(others.count + 3 == TokenGet.Keys.allCases.count, "a new parameter belongs here and there")
  }

  @Test("JSON is one line with the words of the RFCs")
  func json() throws {
    let page = Page()
    let context = CommandContext.scripted(page) { _ in TokenAnswer.example() }
    let command = try #require(try Oauthctl.parseAsRoot(["get-token", "--format", "json"]) as? GetTokenCommand)
    try command.run(context)
    #expect(page.output.hasPrefix(#"{"access_token":"tok","account":"work","account_id":"00","expires_at":1000,"#))
    #expect(page.output.hasSuffix("}\n") && page.output.contains(#""scope":["a"]"#))
  }

  @Test("A token that could end a line is never printed", arguments: ["", "a\nb", "a b", "a\u{1B}", "é"])
  func unusable(token: String) throws {
    let page = Page()
    let context = CommandContext.scripted(page) { _ in TokenAnswer.example(token) }
    let command = try #require(try Oauthctl.parseAsRoot(["get-token", "work"]) as? GetTokenCommand)
    #expect(throws: CommandError.self) { try command.run(context) }
    #expect(page.output.isEmpty)
  }

  @Test("An address in the place of a name is told with the option that takes it")
  func address() throws {
    let command = try #require(try Oauthctl.parseAsRoot(["get-token", "https://h.example/a?b"]) as? GetTokenCommand)
    let error = #expect(throws: CommandError.self) { try command.request() }
    #expect(error?.status == 64 && error?.nextStep == .run("oauthctl get-token --url 'https://h.example/a?b'"))
  }

  @Test("A failure names the account")
  func failure() throws {
    let context = CommandContext.scripted(Page()) { _ throws(CommandError) in
      throw .agent(AgentFailure(.loginRequired, "login needed"), account: nil)
    }
    let command = try #require(try Oauthctl.parseAsRoot(["get-token", "work"]) as? GetTokenCommand)
    let error = #expect(throws: CommandError.self) { try command.run(context) }
    #expect(error?.sentence == "work: login needed")
    #expect(error?.status == 4)
  }
}
