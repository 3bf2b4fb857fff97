import ArgumentParser

/// A command that reaches everything outside of itself by its context, so that a test runs it whole with one of its own.
protocol ContextCommand: ParsableCommand {
  func run(_ context: CommandContext) throws(CommandError)
}

extension ContextCommand {
  func run() throws { try run(.live()) }
}
