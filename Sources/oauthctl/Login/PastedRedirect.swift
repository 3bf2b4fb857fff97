import AgentWire
import OAuthTerms

/// Gives the address that a person pasted to the agent. A wrong one does not end the login.
struct PastedRedirect {
  let context: CommandContext
  let account: String
  let login: LoginStarted

  enum Outcome {
    case ended(LoginProgress)
    /// Not complete yet: the waiting call has the end.
    case taken
    /// What to say, and what to ask then; `notice` is what the waiting call will say of it.
    case refused(String?, question: String, notice: String?)
  }

  func take(_ pasted: String) throws(CommandError) -> Outcome {
    let url = pasted.trimmed
    if url.isEmpty { return .refused(nil, question: LoginWords.pasteQuestion, notice: nil) }
    let own = login.redirectURI.flatMap(PrivateUseScheme.of)
    guard url.hasPrefix("http://") || url.hasPrefix("https://") || own.map({ url.hasPrefix($0 + ":") }) == true else {
      return .refused(
        "that is no address: it has to start with \(login.redirectURI ?? "http://127.0.0.1")",
        question: LoginWords.pasteQuestion, notice: nil)
    }
    do {
      let progress = try context.agent.tell(
        LoginComplete(loginID: login.loginID, redirectURL: url), timeoutMilliseconds: 130_000)
      return progress.state == .complete ? .ended(progress) : .taken
    } catch .agent(let failure, _) where failure.kind == .badRequest {
      // A code is good for one try, so another one is needed.
      let isCode = failure.oauthError != nil
      return .refused(
        failure.message, question: isCode ? LoginWords.codeQuestion : LoginWords.pasteQuestion,
        notice: failure.message)
    } catch {
      throw LoginWaiter.explained(error, account: account)
    }
  }
}
