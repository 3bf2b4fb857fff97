import AgentWire
import ArgumentParser

struct LogoutCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout", abstract: "Revokes the tokens at the server (RFC 7009) and forgets them.",
    discussion: "The account stays; `oauthctl login NAME` logs in again.\nExample: oauthctl logout work")
  @Argument(help: "Account name.", completion: .keptAccountName) var name: String
  @OptionGroup var verbosity: Verbosity

  func run(_ context: CommandContext) throws(CommandError) {
    try AccountName.check(name)
    let answer = try context.agent.ask(Logout(account: name), about: name)
    context.terminal.say(Self.sentence(answer, name))
  }

  static func sentence(_ answer: LogoutAnswer, _ name: String) -> String {
    let reason = answer.reason.map { " (\($0))" } ?? ""
    switch answer.revocation {
    case .revoked:
      guard let reason = answer.reason else { return "Logged out of \(name); the server revoked the tokens." }
      return "Logged out of \(name); the server revoked the refresh token, \(reason)"
    case .unsupported:
      return "Logged out of \(name) here; the server offers no revocation, so its tokens live until they expire."
    case .pending:
      return "Logged out of \(name) here; the server could not be told yet\(reason), and the agent tries again."
    case .refused:
      let why = answer.reason ?? "The server refused to revoke the tokens."
      return "Logged out of \(name) here. \(why)" + (why.hasSuffix(".") ? "" : ".")
    case .none: return "Logged out of \(name); there was nothing to revoke."
    }
  }
}
