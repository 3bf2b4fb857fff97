import AgentWire
import Glibc
import HelperFormats

/// Answers one call of git: the format is HelperFormats', the tokens are the agent's.
struct GitCredentialHelper {
  /// git may send for a while what it was given: it gets a token that lives so long, where that can be had.
  static let validitySeconds = 300
  /// Longest wait for such a token, when there is one that lives shorter.
  static let betterTokenMilliseconds = 5_000
  /// Longest wait in `erase`: git waits too, and it has failed already.
  static let eraseMilliseconds = 2_000

  let bench: Workbench
  /// `--account`: whose token, whatever else fits.
  var account: String?
  /// Whether `setup git` has named a server (`https://host:port`): nothing is to be asked for it at a prompt.
  var isSetUp: @Sendable (String) -> Bool = GitConfiguration.isSetUp

  /// Reads git's input for the operations that have one, and answers. An operation of a newer git is ignored without a
  /// word, as git wants it.
  ///
  /// - Throws: `CommandError.silent` with what is left to say to git already said.
  func run(_ operation: GitOperation?) throws(CommandError) {
    switch operation {
    case .get:
      guard let lookup = GitLookup(try readRequest(), account: account) else { return }
      let reply = reply(to: lookup)
      if let note = reply.note { bench.terminal.warn(note) }
      bench.terminal.write(reply.output)
    case .erase: erase(try readRequest())
    case .store, nil: break
    case .capability: bench.terminal.write(GitOperation.capabilities)
    }
  }

  /// What `get` answers.
  func reply(to lookup: GitLookup) -> GitLookup.Reply {
    let isSetUp: () -> Bool = { self.isSetUp(lookup.origin) }
    do throws(CommandError) {
      var answer = try ask(lookup.question)
      let second = lookup.secondQuestion(after: answer)
      if let second { answer = try ask(second) } else { answer = better(answer, for: lookup.question) }
      do throws(HelperFormatError) {
        return try lookup.answer(answer, isSecond: second != nil, isSetUp: isSetUp())
      } catch {
        return lookup.answer(.other(error.message), isSetUp: isSetUp())
      }
    } catch {
      return lookup.answer(Self.failure(error, at: lookup.origin), isSetUp: isSetUp())
    }
  }

  /// Only the access token is marked, and only if it is the one git tried. No agent is started for it.
  private func erase(_ request: GitCredentialRequest) {
    guard let rejected = GitOperation.rejected(request) else { return }
    let question = TokenReject(
      account: account, url: rejected.url, username: account == nil ? request.username : nil,
      rejected: RejectedToken(token: rejected.token))
    guard let answer = try? bench.agent.tell(question, timeoutMilliseconds: Self.eraseMilliseconds),
      answer.result == .kept
    else { return }
    bench.terminal.warn(
      "\(rejected.url) refused a new token too: rights are missing there, or it takes Bearer tokens alone, "
        + "which needs git 2.46 or newer")
  }

  private func ask(_ question: GitLookup.Question) throws(CommandError) -> GitLookup.Token {
    var request = TokenGet(account: question.account, url: question.url, username: question.username)
    if let fingerprint = question.rejected { request.rejected = RejectedToken(fingerprint: fingerprint) }
    return Self.token(try bench.agent.token(request))
  }

  /// A token that lives long enough for git, where the server gives one in time; else `token`.
  private func better(_ token: GitLookup.Token, for question: GitLookup.Question) -> GitLookup.Token {
    guard question.rejected == nil, let left = token.expiresInSeconds, left < Self.validitySeconds else { return token }
    var request = TokenGet(account: token.account, url: question.url)
    request.minValiditySeconds = Self.validitySeconds
    request.bestEffort = true
    request.timeoutMilliseconds = Self.betterTokenMilliseconds
    guard var longer = (try? bench.agent.token(request)).map(Self.token) else { return token }
    longer.warning = token.warning
    return longer
  }

  private static func token(_ answer: TokenAnswer) -> GitLookup.Token {
    GitLookup.Token(
      accessToken: answer.accessToken, tokenType: answer.tokenType, expiresAt: answer.expiresAt,
      expiresInSeconds: answer.expiresInSeconds, fingerprint: answer.fingerprint, username: answer.gitUsername,
      account: answer.account, warning: answer.warning)
  }

  /// What a failure means to git. `origin` is the server, for advice that a person at git can follow.
  static func failure(_ error: CommandError, at origin: String) -> GitLookup.Failure {
    var error = error
    if case .agent(var failure, let account) = error, let names = failure.accounts,
      [.accountAmbiguous, .accountUnknown].contains(failure.kind)
    {
      failure.hint = failure.kind == .accountUnknown ? otherName(names, at: origin) : choice(names, at: origin)
      error = .agent(failure, account: account)
    }
    let line = (error.sentence ?? "") + (error.nextStep.map { "; \(Terminal.stepLine($0))" } ?? "")
    guard case .agent(let failure, _) = error else { return .other(line) }
    switch failure.kind {
    case .accountUnknown: return failure.accounts == nil ? .notOurs(line) : .needsPerson(line)
    case .badRequest, .notPermitted: return .notOurs(line)
    case .accountAmbiguous, .clientRejected: return .needsPerson(line)
    case .unsupportedMethod, .unsupportedParameter, .internal, .definitionChanged, .configInvalid, .loginRequired,
      .loginPending, .loginCancelled, .serverRefused, .vaultLocked, .keyMissing, .vaultInUse, .vaultDamaged,
      .storageFailed, .unavailable, .timeout, .validityUnattainable, .tokenUnchanged, .rateLimited, .overloaded:
      return failure.kind.needsInteraction ? .needsPerson(line) : .other(line)
    }
  }

  /// How git is told which account: for the whole server, or for this repository's address.
  private static func choice(_ names: [String], at origin: String) -> String {
    let commands = NamedChoice.text(names) { "git config --global credential.\(origin).username \($0)" }
    return commands + "   # or in the address, like \(address(names, at: origin))"
  }

  /// Where the user name that git gave is nobody's. One in the address wins over git's configuration, so that is where it
  /// has to be changed first.
  private static func otherName(_ names: [String], at origin: String) -> String {
    "write the account's name in the repository's address, like \(address(names, at: origin)), or take the name out there "
      + "(see: git remote -v; where no name is: git config --get-all credential.\(origin).username)"
  }

  private static func address(_ names: [String], at origin: String) -> String {
    guard let scheme = origin.range(ofText: "://") else { return origin }
    return "\(origin[..<scheme.upperBound])\(names.first ?? "NAME")@\(origin[scheme.upperBound...])/…"
  }

  private func readRequest() throws(CommandError) -> GitCredentialRequest {
    guard let input = FileBytes.readToBlankLine(from: STDIN_FILENO, limit: GitCredentialRequest.limit) else {
      throw .local("git's request is longer than \(GitCredentialRequest.limit) bytes", run: nil, status: 1)
    }
    do {
      return try GitCredentialRequest(input)
    } catch {
      throw .local("git's request cannot be read: \(error.message)", run: nil, status: 1)
    }
  }
}
