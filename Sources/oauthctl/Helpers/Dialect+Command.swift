import ArgumentParser
import HelperFormats

extension Dialect {
  /// What answers its subcommand.
  var command: any ParsableCommand.Type {
    guard let helper else { return CurlCommand.self }
    return Self.command(helper)
  }

  private static func command<D: HelperDialect>(_ helper: D.Type) -> any ParsableCommand.Type {
    HelperCommand<D>.self
  }

  /// Those that people type, or those that other programs run.
  static func commands(typed: Bool) -> [any ParsableCommand.Type] {
    allCases.filter { ($0.program == nil) == typed }.map(\.command)
  }
}
