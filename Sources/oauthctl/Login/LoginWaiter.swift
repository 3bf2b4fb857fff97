import AgentWire

/// Waits for a login on a thread of its own, so that the person can paste an address or press Control-C meanwhile.
enum LoginWaiter {
  /// One `login.wait` lasts this long at most, so that an agent that ended is noticed before the login's own end.
  private static let spanSeconds = 30

  /// Waits until the login ends, or has another notice than the one that was `told`.
  static func begin(
    _ agent: any AgentCalling, _ login: LoginStarted, told: String?
  ) throws(CommandError) -> Background<Result<LoginProgress, CommandError>> {
    // The agent ends a login that nobody finishes; its answer needs a while to arrive.
    let (loginID, seconds) = (login.loginID, login.expiresInSeconds + spanSeconds)
    let waiter = Background { wait(agent, loginID, seconds: seconds, told: told) }
    guard let waiter else { throw .local("the system gives no thread to wait on", status: 1) }
    return waiter
  }

  /// `error`, with the command that begins the login of `account` anew where its agent is gone, and the login with it.
  static func explained(_ error: CommandError, account: String) -> CommandError {
    let again = NextStep.run("oauthctl login \(account)")
    switch error {
    case .notReachable(_, _, isAbsent: true):
      return .notReachable("\(account): its login ended with the agent that waited for it", next: again)
    case .agent(let failure, _) where failure.kind == .vaultLocked: return .loginEndedByLock(account)
    case .agent(let failure, _):
      let isUnknown = failure.kind == .badRequest && failure.oauthError == nil
      return CommandError.agent(failure, account: account).advising(isUnknown ? again : failure.hint)
    default: return error
    }
  }

  private static func wait(
    _ agent: any AgentCalling, _ loginID: String, seconds: Int, told: String?
  ) -> Result<LoginProgress, CommandError> {
    var left = seconds
    while left > 0 {
      let span = min(left, spanSeconds)
      do {
        // Another agent would not know it: none is started for the question.
        let progress = try agent.tell(
          LoginWait(loginID: loginID, timeoutMilliseconds: span * 1_000),
          timeoutMilliseconds: (span * 1_000 + 10_000) * 4 / 3)
        if progress.state == .complete || progress.notice != told { return .success(progress) }
      } catch {
        return .failure(error)
      }
      left -= span
    }
    return .failure(.local("nobody finished the login in time", next: .run("oauthctl status"), status: 4))
  }
}
