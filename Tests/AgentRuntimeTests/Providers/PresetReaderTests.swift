import AgentCore
import AgentWire
import Glibc
import Testing

@testable import AgentRuntime

@Suite("Presets of one's own")
struct PresetReaderTests {
  private let scratch: ScratchFolder
  private let configuration: FileConfiguration
  private let good = """
    title = "Ours"
    register_at = "https://{host}/clients"

    [ask.host]
    text = "Host"
    example = "id.example"

    [account]
    issuer = "https://{host}/"
    scope = ["read", "{host}"]
    reuse_grace_s = 30

    [account.authorize_parameters]
    tenant = "{host}"
    """

  init() throws {
    scratch = try ScratchFolder()
    mkdir(scratch.path + "/providers.d", 0o700)
    configuration = FileConfiguration(
      folder: ConfigurationFolder(path: scratch.path, home: scratch.path), uid: getuid())
  }

  private func write(_ text: String, as name: String = "ours") throws {
    try scratch.write("providers.d/\(name).toml", text)
  }

  private func show(_ name: String = "ours", _ values: [String: String] = [:]) async throws -> ProviderShowAnswer {
    try await configuration.provider(ProviderShow(provider: name, values: values))
  }

  private func problem() -> ConfigurationProblem? { configuration.readProviders().problems.first }

  @Test("Answers stand where the preset asks for them; without one that is needed there is no account")
  func answers() async throws {
    try write(good)
    let open = try await show()
    #expect(open.account == nil && open.registerAt == nil && open.text == good)
    #expect(open.questions == [ProviderQuestion(name: "host", text: "Host", example: "id.example")])
    let made = try await show("ours", ["host": "id.test:8443"])
    #expect(made.registerAt == "https://id.test:8443/clients")
    #expect(
      made.account == [
        "issuer": .text("https://id.test:8443/"), "scope": .list(["read", "id.test:8443"]),
        "reuse_grace_s": .number(30), "authorize_parameters": .table(["tenant": "id.test:8443"]),
      ])
  }

  @Test("The answers cannot make much of a short preset")
  func placeholders() throws {
    func scopes(_ count: Int) -> String {
      good.replacing(
        "scope = [\"read\", \"{host}\"]", with: "scope = [\"" + String(repeating: "{host}", count: count) + "\"]")
    }
    // Three more stand elsewhere in it.
    try write(scopes(61))
    #expect(problem() == nil)
    try write(scopes(62))
    #expect(problem()?.reason == "the preset has more than 64 placeholders")
  }

  @Test(
    "An answer cannot lead to another place than it seems to",
    arguments: [
      "evil.example/x", "a@evil.example", "https://evil.example", "a?b", "a#b", "", "{host}", "a b", "ä.example",
    ])
  func hostile(_ answer: String) async throws {
    try write(good)
    await #expect(throws: AgentFailure.self) { try await show("ours", ["host": answer]) }
  }

  @Test("An answer that nobody asked for is refused, and a name that is no preset's")
  func unknown() async throws {
    try write(good)
    await #expect(throws: AgentFailure.self) { try await show("ours", ["tenant": "x"]) }
    await #expect(throws: AgentFailure.self) { try await show("../accounts.d/ours") }
    let failure = await #expect(throws: AgentFailure.self) { try await show("keycloack") }
    #expect(failure?.message.contains("did you mean keycloak?") == true && failure?.kind == .configInvalid)
  }

  private let facts = """

    [facts]
    sasl = ["XOAUTH2", "OAUTHBEARER"]
    token_answer = ["nested", "error_with_200"]
    refresh_tokens = "rotated"
    refresh_token_idle_days = 90
    """

  @Test("What is known of the provider besides is shown")
  func knownFacts() async throws {
    try write(good + facts)
    #expect(
      try await show().facts
        == ProviderFacts(
          sasl: [.xoauth2, .oauthBearer], tokenAnswer: [.nested, .errorWith200], refreshTokens: .rotated,
          refreshTokenIdleDays: 90))
    try write(good)
    #expect(try await show().facts == nil)
  }

  @Test(
    "A fact that is none is told with its line",
    arguments: [
      ("\"OAUTHBEARER\"", "\"PLAIN\"", "none of \"XOAUTH2\", \"OAUTHBEARER\""),
      ("\"OAUTHBEARER\"", "\"XOAUTH2\"", "the same twice"), ("\"nested\"", "\"xml\"", "none of"),
      ("\"rotated\"", "\"rotating\"", "is none of \"none\""), ("\"rotated\"", "\"none\"", "of no use"),
      ("= 90", "= 0", "whole days from 1 to 3650"), ("sasl", "imap", "there is no such key"),
      ("refresh_tokens = \"rotated\"", "refresh_token = \"SECRET\"", "secrets do not belong"),
    ])
  func wrongFacts(_ old: String, _ new: String, _ reason: String) async throws {
    try write(good + facts.replacing(old, with: new))
    let told = try #require(problem())
    #expect(told.reason.contains(reason) && (15...19).contains(told.line ?? 0), "\(told)")
    await #expect(throws: AgentFailure.self) { try await show() }
    try write("facts = 1\n" + good)
    #expect(problem()?.key == "facts")
  }

  @Test(
    "A mistake is told with its line, by the rules for account files",
    arguments: [
      ("scope = [\"read\", \"{host}\"]", "scopes = [\"read\"]", 10, "did you mean scope?"),
      ("reuse_grace_s = 30", "reuse_grace_s = 0", 11, "whole seconds"),
      ("reuse_grace_s = 30", "client_secret = \"x\"", 11, "secrets do not belong"),
      ("https://{host}/\"\nscope", "https://{tenant}/\"\nscope", 9, "{tenant} is asked nowhere"),
      ("https://{host}/\"\nscope", "https://{host/\"\nscope", 9, "a brace stands alone"),
      ("https://{host}/\"\nscope", "http://{host}/\"\nscope", 9, ""),
      ("title = \"Ours\"", "name = \"Ours\"", 1, "there is no such key"),
      ("register_at = \"https://{host}/clients\"", "register_at = \"javascript:alert(1)\"", 2, ""),
      ("example = \"id.example\"", "example = \"https://id.example\"", 4, "1 to 253"),
      ("example = \"id.example\"", "sample = \"id.example\"", 6, "there is no such key"),
    ] as [(String, String, Int, String)])
  func mistakes(_ old: String, _ new: String, _ line: Int, _ reason: String) async throws {
    try write(good.replacing(old, with: new))
    let told = try #require(problem())
    #expect(told.line == line && (reason.isEmpty || told.reason.contains(reason)), "\(told)")
    #expect(told.file.hasSuffix("/providers.d/ours.toml"))
    await #expect(throws: AgentFailure.self) { try await show() }
    #expect(configuration.readProviders().providers.contains { $0.provider == "gitlab" })
  }

  @Test("One that others may write is not read, and one without an account is none")
  func trust() throws {
    try write(good)
    chmod(scratch.path + "/providers.d/ours.toml", 0o666)
    #expect(problem()?.reason.contains("may be written by others") == true)
    chmod(scratch.path + "/providers.d/ours.toml", 0o600)
    #expect(problem() == nil)
    try write("title = \"x\"\n")
    #expect(problem()?.reason.contains("[account] is missing") == true)
    try write("titel = \"x\"\n")
    #expect(problem()?.key == "titel")
  }

  @Test("It comes before the program's own of the same name")
  func own() async throws {
    try write(good, as: "gitlab")
    let listed = configuration.readProviders().providers.first { $0.provider == "gitlab" }
    #expect(listed?.title == "Ours" && listed?.file == scratch.path + "/providers.d/gitlab.toml")
    #expect(try await show("gitlab").title == "Ours")
  }
}
