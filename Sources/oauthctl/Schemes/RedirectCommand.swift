import AgentWire
import ArgumentParser
import OAuthTerms

/// What a desktop starts with an address of a scheme that `setup scheme` has set up: gives it to the login that waits for it.
/// The address is never shown: it holds the code.
struct RedirectCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "redirect", abstract: "Gives the address that a browser ended on to the login that waits for it.",
    shouldDisplay: false)

  @Argument(help: "The address.") var url: String
  @OptionGroup var verbosity: Verbosity

  func run(_ context: CommandContext) throws(CommandError) {
    guard PrivateUseScheme.of(url) != nil else {
      throw .usage("that is no address of a scheme that oauthctl setup scheme sets up")
    }
    // No agent is started for it: no login would wait there. Nor is the end of the login waited for, which the command that
    // began it tells: as long as this one runs, the code stands in its arguments.
    _ = try context.agent.tell(
      LoginComplete(redirectURL: url, timeoutMilliseconds: 1), timeoutMilliseconds: 10_000)
    context.terminal.say("The login has its answer; the command that began it tells how it ends.")
  }
}
