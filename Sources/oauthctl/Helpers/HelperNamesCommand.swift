import ArgumentParser
import HelperFormats

/// For whoever installs `oauthctl`: the links that belong beside it.
struct HelperNamesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "helper-names", abstract: "Lists the names under which other programs run oauthctl.",
    discussion: "Prints one line for each: the name, and the command that it runs.\nExample: oauthctl helper-names",
    shouldDisplay: false)

  @OptionGroup var verbosity: Verbosity

  func run() {
    Terminal.live().write(
      Dialect.allCases.map { dialect in dialect.program.map { "\($0) \(dialect.subcommand)\n" } ?? "" }.joined())
  }
}
