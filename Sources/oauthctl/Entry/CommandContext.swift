/// What every command works with.
struct CommandContext: Sendable {
  var agent: any AgentCalling
  var terminal: Terminal
  var environment: Environment

  /// The process's own agent, terminal and environment.
  static func live() -> CommandContext {
    CommandContext(agent: LiveAgent(), terminal: .live(), environment: .live)
  }

  /// The same, and no agent is started where none runs.
  static func withoutStarting() -> CommandContext {
    CommandContext(agent: ExistingAgent(), terminal: .live(), environment: .live)
  }

  /// For a program that another program calls for each token.
  static func helper() -> CommandContext {
    CommandContext(agent: LiveAgent(), terminal: .helper(), environment: .live)
  }
}
