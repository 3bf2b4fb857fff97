import AgentWire
import Glibc
import HelperFormats

/// Answers one call of a program that runs a helper: the format is its dialect's, the tokens are the agent's.
struct HelperRun {
  /// Longest wait for a token that lives long enough, when there is one that lives shorter: git's user waits all the
  /// while.
  static let betterTokenMilliseconds = 5_000
  /// Longest wait to tell of a rejected token: the program waits too, and it has failed already.
  static let rejectionMilliseconds = 2_000

  let context: CommandContext
  /// `--account`: whose token, whatever else fits.
  var account: String?
  /// Whether a server (`https://host:port`) was set up for this helper: nothing is to be asked for it at a prompt.
  var isSetUp: @Sendable (String) -> Bool
  /// How a person tells this program which account of a server is meant.
  var advice: @Sendable (AccountChoice, _ origin: String) -> NextStep
  /// Whether the program, as it connects now, gets the token that it asks for. Throws why it does not; returns whether other
  /// programs were asked, which takes a while.
  var check: @Sendable (HelperToken, HelperQuestion) throws(CommandError) -> Bool = { _, _ in false }

  /// Names among which a person has to choose, and why.
  struct AccountChoice: Sendable {
    var names: [String]
    /// The name that was given is nobody's.
    var isUnknown: Bool
    /// What else decides, as the agent says.
    var other: NextStep?
  }

  /// For `dialect`. Only git's settings are known here: any other program is set up for no server, and a person chooses
  /// among accounts by `--account`.
  static func of(_ dialect: Dialect, _ context: CommandContext, account: String?) -> HelperRun {
    if dialect == .git { return .git(context, account: account) }
    return HelperRun(context: context, account: account, isSetUp: { _ in false }) { choice, _ in
      .advice("name one on the helper's command line: --account \(choice.names.joined(separator: ", or "))")
    }
  }

  /// Reads the program's input for the operations that have one, and answers. An operation of a newer program is ignored
  /// without a word.
  ///
  /// - Throws: `CommandError.local` for an input that cannot be read.
  func run<D: HelperDialect>(_ dialect: D.Type, _ operation: D.Operation?) throws(CommandError) {
    guard let operation else { return }
    switch try call(dialect, operation) {
    case .ignored: break
    case .told(let text): context.terminal.write(text)
    case .lookup(let lookup):
      let (reply, step) = answer(to: lookup, validitySeconds: D.validitySeconds)
      if let note = reply.note { context.terminal.warn(inOneLine: note, next: step) }
      context.terminal.write(reply.output)
    case .rejection(let rejection): tell(rejection)
    }
  }

  private func call<D: HelperDialect>(
    _ dialect: D.Type, _ operation: D.Operation
  ) throws(CommandError) -> HelperCall<D.Lookup> {
    var input: [UInt8] = []
    if D.hasInput(operation) {
      guard let read = FileBytes.readToBlankLine(from: STDIN_FILENO, limit: D.inputLimit) else {
        context.terminal.write(D.givingUp)
        throw .local("\(D.caller)'s request is longer than \(D.inputLimit) bytes", status: 1)
      }
      input = read
    }
    do {
      return try D.call(operation, account: account, input: input)
    } catch {
      context.terminal.write(D.givingUp)
      throw .local("\(D.caller)'s request cannot be read: \(error.message)", status: 1)
    }
  }

  /// `validitySeconds`: how long the token should live at least. `step`: what helps where there is none.
  func answer(to lookup: some HelperLookup, validitySeconds: Int) -> (reply: HelperReply, step: NextStep?) {
    let isSetUp: () -> Bool = { self.isSetUp(lookup.origin) }
    do throws(CommandError) {
      var token = try ask(lookup.question)
      let second = lookup.secondQuestion(after: token)
      if let second {
        token = try ask(second)
      } else {
        token = try better(token, validitySeconds, for: lookup.question)
      }
      token = try unhindered(token, lookup.question)
      do throws(HelperFormatError) {
        return (try lookup.answer(token, isSecond: second != nil, isSetUp: isSetUp()), nil)
      } catch {
        return (lookup.answer(.other(error.message), isSetUp: isSetUp()), nil)
      }
    } catch {
      let (failure, step) = failure(error, at: lookup.origin)
      return (lookup.answer(failure, isSetUp: isSetUp()), step)
    }
  }

  /// The token where nothing keeps it from the program: that of now, where it took a while to know.
  private func unhindered(_ token: HelperToken, _ question: HelperQuestion) throws(CommandError) -> HelperToken {
    guard try check(token, question) else { return token }
    var now = try ask(question)
    guard now.account == token.account, now.authority == token.authority else {
      throw .changedMeanwhile(token.account, status: 1)
    }
    now.warning = now.warning ?? token.warning
    return now
  }

  /// Only the access token is marked, and only if it is the one that was tried. No agent is started for it.
  private func tell(_ rejection: HelperRejection) {
    let question = TokenReject(
      account: account, url: rejection.url, username: rejection.username,
      rejected: RejectedToken(token: rejection.token))
    guard let answer = try? context.agent.tell(question, timeoutMilliseconds: Self.rejectionMilliseconds),
      answer.result == .kept
    else { return }
    context.terminal.warn(rejection.noteIfKept)
  }

  private func ask(_ question: HelperQuestion) throws(CommandError) -> HelperToken {
    var request = TokenGet(account: question.account, url: question.url, username: question.username)
    if let fingerprint = question.rejected { request.rejected = RejectedToken(fingerprint: fingerprint) }
    return HelperToken(try context.agent.token(request))
  }

  /// A token that lives long enough for the program, where the server gives one in time; else what the agent gives without
  /// that. `token` is of before the wait: it may be for nobody any more.
  private func better(
    _ token: HelperToken, _ seconds: Int, for question: HelperQuestion
  ) throws(CommandError) -> HelperToken {
    guard question.rejected == nil, let left = token.expiresInSeconds, left < seconds else { return token }
    var request = TokenGet(account: question.account, url: question.url, username: question.username)
    request.minValiditySeconds = seconds
    request.bestEffort = true
    request.timeoutMilliseconds = Self.betterTokenMilliseconds
    guard var longer = (try? context.agent.token(request)).map(HelperToken.init) else { return try ask(question) }
    longer.warning = token.warning
    return longer
  }

  /// What a failure means to the program, and what helps. `origin` is the server, for advice that a person can follow there.
  func failure(_ error: CommandError, at origin: String) -> (failure: HelperFailure, step: NextStep?) {
    var error = error
    if case .agent(var failure, let account) = error, let names = failure.accounts,
      [.accountAmbiguous, .accountUnknown].contains(failure.kind)
    {
      let choice = AccountChoice(names: names, isUnknown: failure.kind == .accountUnknown, other: failure.hint)
      failure.hint = advice(choice, origin)
      error = .agent(failure, account: account)
    }
    return (Self.meaning(of: error), error.nextStep)
  }

  private static func meaning(of error: CommandError) -> HelperFailure {
    let line = error.sentence ?? ""
    guard case .agent(let failure, _) = error else { return .other(line) }
    // Accounts are there, and none that was named.
    if failure.kind == .accountUnknown, failure.accounts != nil { return .needsPerson(line) }
    switch failure.kind.bearing {
    case .noAccount: return .notOurs(line)
    case .person: return .needsPerson(line)
    case .fault: return .other(line)
    }
  }
}

extension HelperToken {
  init(_ answer: DPoPProofAnswer) {
    self.init(
      accessToken: answer.accessToken, tokenType: answer.tokenType, expiresAt: answer.expiresAt,
      expiresInSeconds: answer.expiresInSeconds, fingerprint: answer.fingerprint, username: nil,
      account: answer.account, warning: answer.warning)
    proof = answer.proof
    scope = answer.scope
    authority = LoginAuthority(digest: answer.authorityDigest, host: answer.authorityHost)
  }

  init(_ answer: TokenAnswer) {
    self.init(
      accessToken: answer.accessToken, tokenType: answer.tokenType, expiresAt: answer.expiresAt,
      expiresInSeconds: answer.expiresInSeconds, fingerprint: answer.fingerprint, username: answer.gitUsername,
      account: answer.account, warning: answer.warning)
    scope = answer.scope
    authority = LoginAuthority(digest: answer.authorityDigest, host: answer.authorityHost)
  }
}
