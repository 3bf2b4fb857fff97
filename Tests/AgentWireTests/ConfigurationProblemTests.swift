import Testing

@testable import AgentWire

@Suite("What is wrong with a configuration file")
struct ConfigurationProblemTests {
  @Test(
    "The account whose file it is",
    arguments: [
      ("/home/me/.config/oauthctl/accounts.d/work.toml", "work"), ("/accounts.d/a.b.toml", "a.b"),
      ("/home/me/.config/oauthctl/accounts.d", nil), ("/home/me/.config/oauthctl/config.toml", nil),
      ("/home/me/.config/oauthctl/providers.d/work.toml", nil), ("/xaccounts.d/work.toml", nil),
      ("/accounts.d/work.toml~", nil), ("work.toml", nil), ("", nil),
    ] as [(String, String?)])
  func accountName(file: String, name: String?) {
    #expect(ConfigurationProblem(file: file, line: 1, key: nil, reason: "is wrong").accountName == name)
  }
}
