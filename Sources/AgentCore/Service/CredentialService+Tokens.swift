package import AgentWire
import Logging
import Sealing
import TokenVault

extension CredentialService {
  /// `token.get` off the hot path.
  package func token(_ request: TokenGet) async throws(AgentFailure) -> TokenAnswer {
    let (token, meaning) = try await obtain(request)
    return answer(token, meaning.choice)
  }

  /// The token that `request` means. `isProven`: it will be given with a proof, see ``checkBinding(_:isProven:)``.
  func obtain(
    _ request: TokenGet, isProven: Bool = false
  ) async throws(AgentFailure) -> (token: TokenRecord, meaning: Meaning) {
    try await open()
    let deadline = time.now().bootSeconds + (try TokenBounds(request).timeoutSeconds)
    var request = request
    if mayBeMended(try select(request).name) {
      await lookAtRollback()
      _ = await lookAtAuthorities(of: [try select(request).name])
    }
    while true {
      let meaning = try meaning(of: request)
      try checkBinding(meaning.choice.name, isProven: isProven)
      try checkNeeded(request, meaning.choice.name)
      let result = await wait(meaning.choice.name, try waiter(request, meaning, until: deadline))
      let now: Meaning?
      do throws(AgentFailure) { now = try stillMeant(request, meaning) } catch {
        if case .failure(let failure) = result { throw failure }
        throw error
      }
      guard let now else {
        // What was forced has come for the one that was meant before.
        request.force = nil
        continue
      }
      let given = try result.get()
      // Another login has come since: what is told beside the token would be that one's.
      guard given.login == loginID(now.choice.name) else {
        request.force = nil
        continue
      }
      let token = given.token
      if token.isBound != isProven { throw isProven ? .notBound(now.choice.name) : .proofRequired(now.choice.name) }
      return (token, now)
    }
  }

  /// What a request asks for: a token of an account.
  struct Meaning: Equatable {
    let choice: Choice
    let key: TokenKey
  }

  private func meaning(of request: TokenGet, after former: Choice? = nil) throws(AgentFailure) -> Meaning {
    let choice = try select(request, after: former)
    return Meaning(choice: choice, key: try key(request, choice.name))
  }

  /// What `request` means after a wait, where that is what it meant before; nil: another account, or another token. Files may have
  /// been changed, hosts been taken out of them, or accounts be logged in elsewhere. Throws where the caller gets none any more.
  func stillMeant(_ request: TokenGet, _ former: Meaning) throws(AgentFailure) -> Meaning? {
    if let last = tokenWaiters.judgement(request, former) { return last.meaning }
    let now = try meaning(of: request, after: former.choice)
    let meaning = now.choice.name == former.choice.name && now.key == former.key ? now : nil
    tokenWaiters.keep(TokenWaiters.Judgement(request: request, former: former, meaning: meaning))
    return meaning
  }

  /// The same for many, without waiting: each gets its reply when it is there.
  func ask(_ questions: [TokenQuestion]) async {
    do throws(AgentFailure) { try await open() } catch {
      for question in questions { refuse(question.id, error, question.reply) }
      return
    }
    for question in questions { ask(question) }
  }

  private func ask(_ question: TokenQuestion) {
    let request = question.parameters
    askServersForTheTime()
    do throws(AgentFailure) {
      let deadline = time.now().bootSeconds + (try TokenBounds(request).timeoutSeconds)
      let meaning = try meaning(of: request)
      let name = meaning.choice.name
      if mayBeMended(name) || awaitsClock(name) { return askApart(question) }
      try checkBinding(name, isProven: false)
      try checkNeeded(request, name)
      begin(name, try waiter(request, meaning, until: deadline), .caller(question, meaning))
    } catch { refuse(question.id, error, question.reply) }
  }

  /// The token that the question asked for until `deadline` has come, or will not.
  func answer(
    _ question: TokenQuestion, _ meaning: Meaning, _ result: Result<TokenRecord, AgentFailure>, until deadline: Double
  ) {
    do throws(AgentFailure) {
      if let now = try stillMeant(question.parameters, meaning) {
        return question.reply(reply(try result.get(), now.choice, to: question.id))
      }
    } catch {
      if case .failure(let failure) = result { return refuse(question.id, failure, question.reply) }
      return refuse(question.id, error, question.reply)
    }
    var again = question.parameters
    again.force = nil
    again.timeoutMilliseconds = max(1, Int((deadline - time.now().bootSeconds) * 1_000))
    askApart(TokenQuestion(id: question.id, parameters: again, reply: question.reply))
  }

  /// A question that has to wait before the account is asked. It gets a task of its own.
  private func askApart(_ question: TokenQuestion) {
    Task {
      do throws(AgentFailure) {
        question.reply(.line(AnswerLine.success(question.id, try await self.token(question.parameters))))
      } catch { self.refuse(question.id, error, question.reply) }
    }
  }

  private func waiter(
    _ request: TokenGet, _ meaning: Meaning, until deadline: Double
  ) throws(AgentFailure) -> AccountStateMachine.Waiter {
    let rejected = try request.rejected.map(Fingerprint.init(rejected:))
    return AccountStateMachine.Waiter(
      id: nextID(), key: meaning.key, minimumValiditySeconds: request.minValiditySeconds.map(Double.init),
      rejected: rejected,
      place: rejected == nil ? nil : Self.place(request.url), force: request.force ?? false,
      bestEffort: request.bestEffort ?? false, deadline: deadline)
  }

  /// `token.reject`.
  package func reject(_ request: TokenReject) async throws(AgentFailure) -> TokenRejectAnswer {
    try await open()
    let fingerprint = try Fingerprint(rejected: request.rejected)
    let wish = AccountSelection.Wish(account: request.account, url: request.url, username: request.username)
    let name = try select(wish, rejected: fingerprint).name
    let place = Self.place(request.url)
    var verdict = TokenRejectAnswer.Verdict.unknown
    for case .judged(let found) in accounts[name].map({ event($0, .rejected(fingerprint, at: place)) }) ?? [] {
      verdict = found
    }
    return TokenRejectAnswer(verdict)
  }

  private func key(_ request: TokenGet, _ name: String) throws(AgentFailure) -> TokenKey {
    guard let machine = accounts[name]?.machine, let definition = machine.definition else { return .standard }
    return try TokenKey(request, of: definition, granted: machine.record?.grant?.scope ?? [])
  }

  func answer(_ token: TokenRecord, _ choice: Choice) -> TokenAnswer {
    let name = choice.name
    let now = now(name)
    let remaining = token.remaining(at: now)
    let machine = accounts[name]?.machine
    let binding = machine?.record?.grant?.binding
    return TokenAnswer(
      accessToken: token.accessToken.secret.reveal(), tokenType: token.tokenType,
      expiresAt: remaining.map { Int(now.wallSeconds + $0) }, expiresInSeconds: remaining.map { max(0, Int($0)) },
      scope: token.scope, account: name, accountID: accounts[name]?.id.description ?? "",
      authorityDigest: binding?.certificateAuthorityDigest, authorityHost: binding?.authorityHost,
      fingerprint: token.fingerprint.description, matchedHost: choice.matchedHost,
      gitUsername: machine?.definition?.gitUsername, warning: choice.doubt)
  }

  /// The answer for a caller that waits for it; what many wait for is made once.
  func reply(_ token: TokenRecord, _ choice: Choice, to id: RequestID) -> TokenReply {
    let name = choice.name
    guard !token.isBound else { return .line(AnswerLine.failure(id, .proofRequired(name))) }
    let made = TokenWaiters.MadeReply.Key(account: name, fingerprint: token.fingerprint)
    guard choice.doubt == nil, case .number(let number) = id,
      let ready = tokenWaiters.lastReply(made) ?? readyToken(token, name)
    else { return .line(AnswerLine.success(id, answer(token, choice))) }
    tokenWaiters.keep(ready, made)
    return .token(ReadyAnswer(token: ready, matchedHost: choice.matchedHost), number)
  }

  /// Nil where its line is the coders' business.
  func readyToken(_ token: TokenRecord, _ name: String) -> ReadyToken? {
    accounts[name].flatMap {
      ReadyToken(
        token, account: name, accountID: $0.id.description, binding: $0.machine.record?.grant?.binding,
        gitUsername: $0.machine.definition?.gitUsername, at: now(name))
    }
  }

  func refuse(_ id: RequestID, _ failure: AgentFailure, _ reply: (TokenReply) -> Void) {
    logger.debug("refused", metadata: ["method": "token.get", "failure": "\(failure.kind.rawValue)"])
    reply(.line(AnswerLine.failure(id, failure)))
  }
}
