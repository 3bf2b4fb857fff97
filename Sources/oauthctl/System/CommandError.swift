import AgentWire

/// Everything that can end a command. Each says what happened, why, and what to do next; `Terminal` prints it.
enum CommandError: Error, Equatable {
  /// The command line makes no sense: status 64.
  case usage(String, next: NextStep? = nil)
  /// The agent said no. `account` is whom it was about, when the command knows.
  case agent(AgentFailure, account: String?)
  /// There is no agent to talk to: status 7. `isAbsent`: nobody listens there.
  case notReachable(String, next: NextStep? = nil, isAbsent: Bool = false)
  /// The agent did not answer in time: status 6.
  case noAnswer(String, next: NextStep? = nil)
  /// Something on this side: a file, a prompt, a program.
  case local(String, next: NextStep? = nil, status: Int32)
  /// Said already; only the status is left.
  case silent(status: Int32)

  /// A problem with an account or its file: status 3.
  static func configuration(_ what: String, next: NextStep? = nil) -> CommandError {
    .local(what, next: next, status: 3)
  }

  static func noAccount(_ name: String, among accounts: [AccountSummary]) -> CommandError {
    let meant = NameSuggestion.nearest(to: name, among: accounts.map(\.account))
    return .configuration(
      "\(name): no such account" + (meant.map { "; did you mean \($0)?" } ?? ""), next: .run("oauthctl account list"))
  }

  /// The vault was locked while this login of `account` was under way, so that nobody logged in by it.
  static func loginEndedByLock(_ account: String) -> CommandError {
    .local(
      "\(account): the vault was locked, which ended the login",
      next: .run("oauthctl vault unlock && oauthctl login \(account)"), status: 5)
  }

  /// The account was changed between two questions of one command.
  static func changedMeanwhile(_ account: String, status: Int32) -> CommandError {
    .local("\(account) has changed meanwhile", next: "run the command again", status: status)
  }

  /// The answer to a question was no: status 1.
  static let declined = CommandError.local("nothing was changed", status: 1)

  /// The exit status, as docs/protocol.md lists them.
  var status: Int32 {
    switch self {
    case .usage: 64
    case .agent(let failure, _): failure.exitStatus
    case .notReachable: 7
    case .noAnswer: 6
    case .local(_, _, let status), .silent(let status): status
    }
  }

  /// `what and why` in one line, without the program's name. Nil: nothing is left to say.
  var sentence: String? {
    switch self {
    case .usage(let what, _), .notReachable(let what, _, _), .noAnswer(let what, _), .local(let what, _, _):
      return what
    case .silent: return nil
    case .agent(let failure, let account):
      return account.map(failure.message(about:)) ?? failure.message
    }
  }

  /// What to do next.
  var nextStep: NextStep? {
    switch self {
    case .usage(_, let next), .notReachable(_, let next, _), .local(_, let next, _): return next
    case .noAnswer(_, let next): return next ?? .run("oauthctl doctor")
    case .silent: return nil
    case .agent(let failure, let account): return failure.hint ?? Self.nextStep(for: failure, account: account)
    }
  }

  /// The key of the account's file whose value is in the way; nil: none, or nobody said.
  var obstacleKey: String? {
    if case .agent(let failure, _) = self { failure.obstacleKey } else { nil }
  }

  /// The same failure with another next step.
  func advising(_ step: NextStep?) -> CommandError {
    switch self {
    case .agent(var failure, let account):
      failure.hint = step
      return .agent(failure, account: account)
    case .usage(let what, _): return .usage(what, next: step)
    case .notReachable(let what, _, let isAbsent): return .notReachable(what, next: step, isAbsent: isAbsent)
    case .local(let what, _, let status): return .local(what, next: step, status: status)
    case .noAnswer, .silent: return self
    }
  }

  /// Where several accounts fit, the command of each; other errors as they are.
  func choosing(_ command: (String) -> String) -> CommandError {
    guard case .agent(let failure, _) = self, failure.kind == .accountAmbiguous, let names = failure.accounts
    else { return self }
    return advising(.run(NamedChoice.text(names, command) + (failure.hint.map { "   # or: \($0.text)" } ?? "")))
  }

  private static func nextStep(for failure: AgentFailure, account: String?) -> NextStep? {
    switch failure.kind {
    case .accountUnknown: return .run("oauthctl account list")
    case .accountAmbiguous: return .run("oauthctl account list   # then name one")
    // Of a changed definition the agent says what helps; an older one does not.
    case .configInvalid, .definitionChanged, .clientRejected, .serverRefused:
      return .run(account.map { "oauthctl account show \($0)" } ?? "oauthctl account list")
    case .loginRequired, .loginCancelled: return .run("oauthctl login" + (account.map { " " + $0 } ?? ""))
    case .vaultLocked, .keyMissing: return .run("oauthctl vault unlock")
    case .vaultInUse, .storageFailed: return .run("oauthctl doctor")
    case .vaultDamaged, .internal: return .run("oauthctl vault status")
    // No server answered, and nothing plans the next attempt.
    case .unavailable where failure.retryAfterMilliseconds == nil:
      return "check its address, and whether the server runs; then try again"
    case .unavailable, .timeout, .rateLimited, .overloaded, .tokenUnchanged:
      guard let milliseconds = failure.retryAfterMilliseconds else { return "try again later" }
      return "try again in \(Duration.text(seconds: max(1, (milliseconds + 999) / 1000)))"
    case .validityUnattainable:
      return failure.maximumValiditySeconds.map { "ask for at most --min-validity \($0), or add --best-effort" }
    case .loginPending: return "try again when the login has ended"
    case .notPermitted, .proofRequired, .badRequest, .unsupportedMethod, .unsupportedParameter: return nil
    }
  }
}

/// ArgumentParser quotes what a check of options throws.
extension CommandError: CustomStringConvertible {
  var description: String { sentence ?? "" }
}
