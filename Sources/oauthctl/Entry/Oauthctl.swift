import AgentWire
import ArgumentParser
import HelperFormats

struct Oauthctl: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "oauthctl",
    abstract: "One place for your OAuth logins: every tool asks it for the current access token.",
    discussion: """
      First:  oauthctl login work https://gitlab.example.com --client-id ID
      Then:   oauthctl curl https://gitlab.example.com/api/v4/user
      With -v or --verbose, before any command, it says on standard error what it asks the agent.
      """,
    version: Version.text,
    subcommands: [LoginCommand.self, GetTokenCommand.self, StatusCommand.self] + Dialect.commands(typed: true) + [
      SetupCommand.self, AccountCommand.self, SecretCommand.self, KeyCommand.self, LogoutCommand.self,
      VaultCommand.self, AgentCommand.self, DoctorCommand.self, ReloadCommand.self, ProviderCommand.self,
      ClientMetadataCommand.self,
    ] + Dialect.commands(typed: false) + [RedirectCommand.self, HelperNamesCommand.self])

  /// For help and completions: where it stands before the command, it is taken off before anything is parsed.
  @OptionGroup var verbosity: Verbosity
}

enum Version {
  static let text = "oauthctl \(ProjectVersion.current) (protocol 1)"
}
