import AgentWire
import ArgumentParser
import Testing

@testable import oauthctl

@Suite("Accounts that begin with a preset")
struct ProviderTests {
  private let defaults: [String: ProviderDefault] = [
    "issuer": .text("https://id.example"), "scope": .list(["read"]), "git_username": .text("bot"),
    "reuse_grace_s": .number(600), "refresh_revokes_access_token": .flag(true),
    "authorize_parameters": .table(["prompt": "consent", "audience": "api"]), "token_parameters": .table(["a": "b"]),
  ]

  private func preset(_ more: [String: ProviderDefault] = [:]) -> ProviderShowAnswer {
    ProviderShowAnswer(
      provider: "ours", title: "Ours", registerAt: "https://id.example/clients",
      account: defaults.merging(more) { $1 })
  }

  @Test("What was given stands in the file before what the preset has, and every key of it is copied")
  func merged() {
    var account = NewAccount(issuer: "https://id.example", clientID: "mine")
    account.defaults = defaults
    account.provider = "ours"
    account.scope = ["write"]
    account.authorizeParameters = [("prompt", "login")]
    let lines = account.tomlText.split(separator: "\n").map(String.init)
    #expect(
      lines.dropFirst(2) == [
        "issuer = \"https://id.example\"", "client_id = \"mine\"", "scope = [\"write\"]", "git_username = \"bot\"",
        "refresh_revokes_access_token = true", "reuse_grace_s = 600", "[authorize_parameters]",
        "prompt = \"login\"", "audience = \"api\"", "[token_parameters]", "a = \"b\"",
      ])
  }

  @Test("What the command line says of the client goes into what is found")
  func given() throws {
    let context = CommandContext.scripted(Page(), ["XDG_CONFIG_HOME": "/nowhere"]) { [self] _ throws(CommandError) in
      preset()
    }
    let beginning = ProviderBeginning(context: context, account: "work", provider: "ours", flags: [])
    let found = try #require(try beginning.find(try LoginOptions.parse(["--provider", "ours", "--client-id", "mine"])))
    #expect(found.options.clientID == "mine" && found.issuer == "https://id.example" && found.defaults == defaults)
  }

  @Test("A preset of one's own may bring the client id of one's company")
  func ownClient() throws {
    let context = CommandContext.scripted(Page(), ["XDG_CONFIG_HOME": "/nowhere"]) { [self] _ throws(CommandError) in
      preset(["client_id": .text("company")])
    }
    let beginning = ProviderBeginning(context: context, account: "work", provider: "ours", flags: [])
    let found = try beginning.find(try LoginOptions.parse(["--provider", "ours"]))
    #expect(found?.options.clientID == "company")
  }

  @Test("--provider and a server's address are not given together")
  func both() throws {
    let context = CommandContext.scripted(Page()) { _ throws(CommandError) in EmptyResult() }
    let command = try LoginCommand.parse(["work", "https://id.example", "--provider", "gitlab", "--client-id", "x"])
    let error = #expect(throws: CommandError.self) { try command.run(context) }
    #expect(error?.status == 64 && error?.sentence?.contains("--provider names the server already") == true)
  }
}
