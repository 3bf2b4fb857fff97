import ArgumentParser
import HelperFormats

struct GitCredentialCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: Dialect.git.subcommand, abstract: "Answers git as its credential helper.",
    discussion:
      "git runs it; `oauthctl setup git` says so to git.\nExample: printf 'protocol=https\\nhost=gitlab.example.com\\n' | oauthctl git-credential get"
  )

  @Option(help: "Always answers with the token of account NAME.", completion: .accountName)
  var account: String?
  @Argument(help: "get, store or erase; any other is ignored.") var operation: String
  @OptionGroup var verbosity: Verbosity

  func run() throws {
    if let account { try AccountName.check(account) }
    try HelperRun.git(.helper(), account: account).run(GitDialect.self, GitDialect.operation(operation))
  }
}
