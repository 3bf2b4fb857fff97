import ArgumentParser
import HelperFormats

struct GitCredentialCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "git-credential", abstract: "Answers git as its credential helper.",
    discussion:
      "git runs it; `oauthctl setup git` says so to git.\nExample: printf 'protocol=https\\nhost=gitlab.example.com\\n' | oauthctl git-credential get"
  )

  @Option(help: "Account NAME: its token, whichever other accounts share the host.", completion: .accountName)
  var account: String?
  @Argument(help: "get, store or erase; git may come up with others, which are ignored.") var operation: String
  @OptionGroup var verbosity: Verbosity

  func run() throws {
    if let account { try AccountName.check(account) }
    try GitCredentialHelper(bench: .helper(), account: account).run(GitOperation(operation))
  }
}
