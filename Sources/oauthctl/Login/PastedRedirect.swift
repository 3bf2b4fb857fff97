import AgentWire
import Glibc
import OAuthTerms
import SystemFacts

/// Gives the address that a person pasted to the agent. A wrong one does not end the login.
struct PastedRedirect {
  let context: CommandContext
  let account: String
  let login: LoginStarted
  /// Readable when an interrupt has come.
  let interrupts: Int32?

  enum Outcome: Sendable {
    case ended(LoginProgress)
    /// Not complete yet: the waiting call has the end.
    case taken
    /// The agent has it, and has not answered: an interrupt has come, or the time is over.
    case interrupted, late
    /// What to say, and what to ask then; `notice` is what the waiting call will say of it.
    case refused(String?, question: String, notice: String?)
  }

  /// Waits for the agent until `end`, in milliseconds of ``MonotonicClock``; nil: as long as it takes.
  func take(_ pasted: String, until end: Int?) throws(CommandError) -> Outcome {
    let url = pasted.trimmed
    if url.isEmpty { return .refused(nil, question: LoginWords.pasteQuestion, notice: nil) }
    let own = login.redirectURI.flatMap(PrivateUseScheme.of)
    guard url.hasPrefix("http://") || url.hasPrefix("https://") || own.map({ url.hasPrefix($0 + ":") }) == true else {
      return .refused(
        "that is no address: it has to start with \(login.redirectURI ?? "http://127.0.0.1")",
        question: LoginWords.pasteQuestion, notice: nil)
    }
    let completing = Background { Result { () throws(CommandError) in try complete(url) } }
    guard let completing else { throw .local("the system gives no thread to wait on", status: 1) }
    while true {
      var waiting = [
        pollfd(fd: completing.doneDescriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: interrupts ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      let patience = end.map { max(0, $0 - MonotonicClock.milliseconds()) } ?? -1
      _ = poll(&waiting, nfds_t(waiting.count), Int32(clamping: patience))
      if waiting[1].revents != 0 { return .interrupted }
      if waiting[0].revents != 0 { return try completing.value()?.get() ?? .taken }
      if let end, MonotonicClock.milliseconds() >= end { return .late }
    }
  }

  private func complete(_ url: String) throws(CommandError) -> Outcome {
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
