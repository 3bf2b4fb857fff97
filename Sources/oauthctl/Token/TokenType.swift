import AgentWire
import ArgumentParser

/// What `get-token` prints.
enum TokenType: String, CaseIterable, ExpressibleByArgument {
  /// The access token.
  case access
  /// Who has logged in, signed by the server (OpenID Connect Core 1.0 §2): for programs that ask for it, never for an API.
  case id
}

extension GetTokenCommand {
  /// `--type id`
  func printIDToken(_ context: CommandContext) throws(CommandError) {
    let isPlain =
      url == nil && selection.isEmpty && !rejectedFromInput && rejectedFingerprint == nil && minValiditySeconds == nil
      && !force && !bestEffort
    guard isPlain else {
      throw .usage("--type id takes --format, --json and --timeout alone: there is one ID token for a login")
    }
    let wait = try request().timeoutMilliseconds
    let answer: IDTokenAnswer
    do throws(CommandError) {
      answer = try context.agent.call(
        TokenID(account: name, timeoutMilliseconds: wait), about: name,
        timeoutMilliseconds: (wait ?? WireLimits.defaultTimeoutMilliseconds) + 5_000)
    } catch {
      throw error.choosing { "oauthctl get-token \($0) --type id" }
    }
    switch json ? .json : format ?? .token {
    case .token: context.terminal.data(try AccessToken.checked(answer.idToken))
    case .json: context.terminal.data(JSONText.line(answer))
    case .header, .headers:
      throw .usage("an ID token is no header: it says who logged in, and gives no access")
    }
  }
}
