import AgentWire

/// The agent, as commands see it: one question, one answer.
protocol AgentCalling: Sendable {
  /// Asks and waits.
  ///
  /// - Throws: `CommandError.agent`, `.notReachable` or `.noAnswer`.
  func call<P: RequestParameters>(_ parameters: P, timeoutMilliseconds: Int) throws(CommandError) -> P.Answer

  /// Tells a running agent something, within this time in all; starts none.
  ///
  /// - Throws: as `call`.
  func tell<P: RequestParameters>(_ parameters: P, timeoutMilliseconds: Int) throws(CommandError) -> P.Answer

  /// Asks for a token; the wait is the request's own, and a little for the answer's way. The account is named in the
  /// failure.
  func token(_ request: TokenGet) throws(CommandError) -> TokenAnswer

  /// The same failure, with what else is known of its cause.
  func explained(_ error: CommandError) -> CommandError
}

extension AgentCalling {
  /// Asks with the time that methods without a wait of their own need. `account` is named in the failure.
  func ask<P: RequestParameters>(_ parameters: P, about account: String? = nil) throws(CommandError) -> P.Answer {
    guard P.method.isAccountChange else {
      return try call(parameters, about: account, timeoutMilliseconds: WireLimits.defaultTimeoutMilliseconds + 5_000)
    }
    return try Interrupts.whileAgentChanges { () throws(CommandError) in
      try call(parameters, about: account, timeoutMilliseconds: WireLimits.changeMilliseconds)
    }
  }

  /// `call` that names the account in the failure.
  func call<P: RequestParameters>(
    _ parameters: P, about account: String?, timeoutMilliseconds: Int
  ) throws(CommandError) -> P.Answer {
    do {
      return try call(parameters, timeoutMilliseconds: timeoutMilliseconds)
    } catch {
      throw explained(error.about(account))
    }
  }

  func explained(_ error: CommandError) -> CommandError { error }

  func tell<P: RequestParameters>(_ parameters: P, timeoutMilliseconds: Int) throws(CommandError) -> P.Answer {
    try call(parameters, timeoutMilliseconds: timeoutMilliseconds)
  }

  func token(_ request: TokenGet) throws(CommandError) -> TokenAnswer {
    let wait = request.timeoutMilliseconds ?? WireLimits.defaultTimeoutMilliseconds
    return try call(request, about: request.account, timeoutMilliseconds: wait + 5_000)
  }
}
