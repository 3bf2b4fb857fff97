import ArgumentParser
import HelperFormats

extension Dialect {
  /// What answers its subcommand.
  var command: any ParsableCommand.Type {
    switch self {
    case .git: GitCredentialCommand.self
    case .curl: CurlCommand.self
    }
  }

  /// Those that people type, or those that other programs run.
  static func commands(typed: Bool) -> [any ParsableCommand.Type] {
    allCases.filter { ($0.program == nil) == typed }.map(\.command)
  }
}
