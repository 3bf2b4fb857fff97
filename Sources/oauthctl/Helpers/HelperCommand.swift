import ArgumentParser
import HelperFormats

/// The command that answers a program which runs a helper in the way of `D`.
struct HelperCommand<D: HelperDialect>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: D.dialect.subcommand, abstract: D.abstract, discussion: D.discussion)
  }

  @Option(help: "Always answers with the token of account NAME.", completion: .accountName)
  var account: String?
  @Argument(help: ArgumentHelp(D.operations)) var operation: String
  @OptionGroup var verbosity: Verbosity

  func run() throws {
    if let account { try AccountName.check(account) }
    try HelperRun.of(D.dialect, .helper(), account: account).run(D.self, D.operation(operation))
  }
}
