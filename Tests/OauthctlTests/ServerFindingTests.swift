import AgentWire
import ArgumentParser
import Synchronization
import Testing

@testable import oauthctl

@Suite("What a login finds out for itself")
struct ServerFindingTests {
  /// What the agent says it has registered.
  private static let registered = "http://127.0.0.1:20001/0123456789abcdef/callback"

  /// The options after a client was registered for the account, and the definition that was sent for it.
  private func register(
    _ flags: [String] = [],
    at server: ServerFindAnswer = ServerFindAnswer(
      issuer: "https://as.example", discovery: "OAuth metadata", registers: true)
  ) throws -> (options: LoginOptions, definition: String) {
    let definition = Mutex("")
    let context = CommandContext.scripted(Page()) { parameters throws(CommandError) in
      switch parameters {
      case is ServerFind: return server
      case is AccountCheck: return AccountCheckAnswer(problems: [])
      case let asked as ClientRegister:
        definition.withLock { $0 = asked.definition }
        return ClientRegisterAnswer(clientID: "registered", redirectURI: Self.registered)
      case is AccountShow:
        throw .agent(AgentFailure(.accountUnknown, "work: no such account"), account: nil)
      default: throw .silent(status: 1)
      }
    }
    let words = ["login", "work", "https://as.example"] + flags
    let command = try #require(try Oauthctl.parseAsRoot(words) as? LoginCommand)
    let finding = ServerFinding(
      context: context, account: "work", url: "https://as.example", workingFolder: "/", flags: flags)
    let found = try #require(try finding.find(command.options))
    return (found.options, definition.withLock { $0 })
  }

  @Test("Port and path of a redirect are left to the agent, and what it has registered stands in the account's file")
  func path() throws {
    let found = try register()
    let account = try found.options.account(name: "work", issuer: "https://as.example", workingFolder: "/")
    #expect(account?.redirectURI == Self.registered)
    #expect(found.definition.contains("redirect_uri = \"http://127.0.0.1\"\n"))
  }

  @Test(
    "What was typed is sent",
    arguments: [
      (["--port", "8914"], "http://127.0.0.1:8914"),
      (["--port", "8914", "--redirect-path", "/cb"], "http://127.0.0.1:8914/cb"),
      (["--redirect-uri", "http://localhost:8914/callback"], "http://localhost:8914/callback"),
    ])
  func typed(flags: [String], redirect: String) throws {
    #expect(try register(flags).definition.contains("redirect_uri = \"\(redirect)\"\n"))
  }

  private static let document = "https://www.example.com/oauthctl.json"

  /// A server that takes ``document``.
  private func server(names: Bool?, registers: Bool = true) -> ServerFindAnswer {
    ServerFindAnswer(
      issuer: "https://as.example", discovery: "OAuth metadata", registers: registers, clientMetadataURL: Self.document,
      namesIssuer: names)
  }

  @Test(
    "A client metadata document comes before registration, where the server names itself or no browser is redirected",
    arguments: [([], true), (["--port", "8914"], true), (["--redirect-uri", "http://localhost/callback"], true)]
      + [(["--device"], nil)] as [([String], Bool?)])
  func document(flags: [String], names: Bool?) throws {
    let found = try register(flags, at: server(names: names))
    #expect(found.options.clientID == Self.document && found.options.clientAuthentication == "none")
    #expect(found.definition.isEmpty)
  }

  @Test(
    "Where its redirects would not do, a client is registered, or the reason is told",
    arguments: [([], nil, "iss"), ([], false, "iss"), (["--redirect-path", "/cb"], true, "127.0.0.1/cb")]
      as [([String], Bool?, String)])
  func documentOfNoUse(flags: [String], names: Bool?, reason: String) throws {
    #expect(try register(flags, at: server(names: names)).options.clientID == "registered")
    let refusal = #expect(throws: CommandError.self) {
      try register(flags, at: server(names: names, registers: false))
    }
    #expect(refusal?.sentence?.contains(reason) == true)
  }

  @Test("A login by a code on another device has no redirect")
  func device() throws {
    let found = try register(["--device"])
    #expect(found.options.redirectURI == nil && !found.definition.contains("redirect_uri"))
  }
}

@Suite("The question before a login at another server")
struct ServerQuestionTests {
  @Test("What is short is one line")
  func short() {
    let asked = ServerQuestion(
      resource: "https://m/mcp", issuer: "https://as.example/t", destination: "https://m", scope: ["read", "write"])
    #expect(
      asked.lines == [
        "It is for: read write", "https://m/mcp leaves its logins to another server: https://as.example/t",
        "The token will be sent to: https://m",
      ])
    #expect(asked.question == "Log in at https://as.example?")
    let silent = ServerQuestion(resource: "https://m", issuer: "https://a", destination: "https://m", scope: [])
    #expect(silent.lines.first == "It is for what that server gives by itself.")
  }

  @Test("However much a server wants, all of it is shown, none of it begins a line, and the last lines are ours")
  func long() {
    let issuer = "https://evil.example/" + String(repeating: "a", count: 2_000)
    let scope = (0..<60).map { "scope-\($0)" } + [String(repeating: "The_token_will_be_sent_to:", count: 20)]
    let asked = ServerQuestion(
      resource: "https://m/mcp", issuer: issuer, destination: "https://m", scope: scope)
    #expect(asked.question == "Log in at https://evil.example?")
    let rows = asked.lines.flatMap { ScreenRows.rows(of: $0, columns: 80) }
    let ours = rows.filter { !$0.hasPrefix("    ") }
    #expect(
      ours == [
        "It is for:", "https://m/mcp leaves its logins to another server:", "The token will be sent to: https://m",
      ])
    #expect(rows.last == ours.last && rows.allSatisfy { $0.count < 80 })
    let shown = rows.filter { $0.hasPrefix("    ") }.map { $0.drop { $0 == " " } }.joined()
    #expect(shown == scope.joined() + issuer)
  }
}
