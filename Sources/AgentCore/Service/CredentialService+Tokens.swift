package import AgentWire
import Logging
import Sealing
import TokenVault

extension CredentialService {
  /// `token.get` off the hot path.
  package func token(_ request: TokenGet) async throws(AgentFailure) -> TokenAnswer {
    let (token, choice) = try await obtain(request)
    return answer(token, choice)
  }

  /// The token that `request` means. `isProven`: it will be given with a proof, see ``checkBinding(_:isProven:)``.
  func obtain(
    _ request: TokenGet, isProven: Bool = false
  ) async throws(AgentFailure) -> (token: TokenRecord, choice: Choice) {
    try await open()
    let bounds = try TokenBounds(request)
    let began = time.now()
    askServersForTheTime()
    var choice = try select(request)
    // Mostly once: the clock may move again meanwhile.
    while awaitsClock(choice.name) {
      let left = bounds.timeoutSeconds - time.now().seconds(since: began)
      guard left > 0 else { throw .clockIsAsked(choice.name) }
      await wait(for: .clock(choice.name), seconds: left)
      try await open()
      askServersForTheTime()
      choice = try select(request)
    }
    if mayBeMended(choice.name) {
      await lookAtRollback()
      _ = await lookAtAuthorities(of: [choice.name])
      choice = try select(request)
    }
    try checkBinding(choice.name, isProven: isProven)
    try checkNeeded(request, choice.name)
    let left = max(0.001, bounds.timeoutSeconds - time.now().seconds(since: began))
    let waiter = try waiter(request, choice.name, timeoutSeconds: left)
    switch await wait(choice.name, waiter) {
    case .failure(let failure): throw failure
    case .success(let token):
      // The host may have been taken out of the file while this waited.
      if let url = request.url { _ = try select(account: choice.name, url: url) }
      // Another login may have come while this waited.
      if token.isBound != isProven { throw isProven ? .notBound(choice.name) : .proofRequired(choice.name) }
      return (token, choice)
    }
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
    let (id, request, reply) = (question.id, question.parameters, question.reply)
    askServersForTheTime()
    do throws(AgentFailure) {
      let bounds = try TokenBounds(request)
      let choice = try select(request)
      if mayBeMended(choice.name) || awaitsClock(choice.name) { return askApart(question) }
      try checkBinding(choice.name, isProven: false)
      try checkNeeded(request, choice.name)
      let waiter = try waiter(request, choice.name, timeoutSeconds: bounds.timeoutSeconds)
      begin(choice.name, waiter, .caller(id, choice, reply))
    } catch { refuse(id, error, reply) }
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
    _ request: TokenGet, _ name: String, timeoutSeconds: Double
  ) throws(AgentFailure) -> AccountStateMachine.Waiter {
    let key = try key(request, name)
    let rejected = try request.rejected.map(Fingerprint.init(rejected:))
    return AccountStateMachine.Waiter(
      id: nextID(), key: key, minimumValiditySeconds: request.minValiditySeconds.map(Double.init),
      rejected: rejected,
      place: rejected == nil ? nil : Self.place(request.url), force: request.force ?? false,
      bestEffort: request.bestEffort ?? false,
      deadline: time.now().bootSeconds + timeoutSeconds)
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
    return TokenAnswer(
      accessToken: token.accessToken.secret.reveal(), tokenType: token.tokenType,
      expiresAt: remaining.map { Int(now.wallSeconds + $0) }, expiresInSeconds: remaining.map { max(0, Int($0)) },
      scope: token.scope, account: name, accountID: accounts[name]?.id.description ?? "",
      authorityDigest: accounts[name].flatMap(Self.authorityDigest), fingerprint: token.fingerprint.description,
      matchedHost: choice.matchedHost, gitUsername: accounts[name]?.machine.definition?.gitUsername,
      warning: choice.doubt)
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
        token, account: name, accountID: $0.id.description, authorityDigest: Self.authorityDigest($0),
        gitUsername: $0.machine.definition?.gitUsername, at: now(name))
    }
  }

  private static func authorityDigest(_ account: Account) -> String? {
    account.machine.record?.grant?.binding.certificateAuthorityDigest
  }

  func refuse(_ id: RequestID, _ failure: AgentFailure, _ reply: (TokenReply) -> Void) {
    logger.debug("refused", metadata: ["method": "token.get", "failure": "\(failure.kind.rawValue)"])
    reply(.line(AnswerLine.failure(id, failure)))
  }
}
