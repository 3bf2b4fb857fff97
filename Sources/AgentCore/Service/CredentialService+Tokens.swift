package import AgentWire
import Logging
import OAuthProtocol
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
    if ready.hasWallMoved(at: began) {
      // Who may not have it is told at once.
      _ = try select(request)
      await clocksSettled(seconds: bounds.timeoutSeconds)
      try await open()
    }
    var choice = try select(request)
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
    // After a change of the wall clock, for the few seconds until servers have told the time.
    if ready.hasWallMoved(at: time.now()) { return askApart(question) }
    do throws(AgentFailure) {
      let bounds = try TokenBounds(request)
      let choice = try select(request)
      if mayBeMended(choice.name) { return askApart(question) }
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
    let rejected = try request.rejected.map(Self.fingerprint)
    return AccountStateMachine.Waiter(
      id: nextID(), key: key, minimumValiditySeconds: request.minValiditySeconds.map(Double.init), rejected: rejected,
      place: rejected == nil ? nil : Self.place(request.url), force: request.force ?? false,
      bestEffort: request.bestEffort ?? false,
      deadline: time.now().bootSeconds + timeoutSeconds)
  }

  /// `token.reject`.
  package func reject(_ request: TokenReject) async throws(AgentFailure) -> TokenRejectAnswer {
    try await open()
    let fingerprint = try Self.fingerprint(request.rejected)
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
    guard let definition = accounts[name]?.machine.definition else { return .standard }
    // Mostly all of it is asked for.
    if request.scope == nil, request.resource == nil, request.audience == nil { return .standard }
    func checked(_ what: String, _ asked: [String]?, _ allowed: [String]) throws(AgentFailure) -> [String] {
      guard let asked else { return [] }
      // Without it the whole token is meant, and that is more than whoever sends an empty one expects.
      guard !asked.isEmpty, !asked.contains("") else {
        throw AgentFailure(
          .badRequest, "\(name): \(what) is empty", hint: .advice("leave it out, or name what is to be asked for"))
      }
      guard let other = asked.first(where: { !allowed.contains($0) }) else { return asked }
      let shown = Escaped.forTerminal(other, limit: 80)
      throw AgentFailure(
        .notPermitted, "\(name): \(what) \(shown) may not be asked for",
        hint:
          "add it to \(what == "scope" ? "allowed_scope" : what) in \(definition.file.isEmpty ? "its file" : definition.file)"
      )
    }
    // What the login was granted is in everybody's token anyway: less of it is nothing more.
    let granted = accounts[name]?.machine.record?.grant?.scope ?? []
    let scope = try checked("scope", request.scope, definition.scope + definition.allowedScope + granted)
    return TokenKey(
      scope: [Set(definition.scope), Set(granted)].contains(Set(scope)) ? [] : scope,
      resource: try checked("resource", request.resource, definition.resource),
      audience: try checked("audience", request.audience, definition.audience))
  }

  func answer(_ token: TokenRecord, _ choice: Choice) -> TokenAnswer {
    let name = choice.name
    let now = now(name)
    let remaining = token.remaining(at: now)
    return TokenAnswer(
      accessToken: token.accessToken.secret.reveal(), tokenType: token.tokenType,
      expiresAt: remaining.map { Int(now.wallSeconds + $0) }, expiresInSeconds: remaining.map { max(0, Int($0)) },
      scope: token.scope, account: name, accountID: accounts[name]?.id.description ?? "",
      fingerprint: token.fingerprint.description, matchedHost: choice.matchedHost,
      gitUsername: accounts[name]?.machine.definition?.gitUsername, warning: choice.doubt)
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
        token, account: name, accountID: $0.id.description, gitUsername: $0.machine.definition?.gitUsername,
        at: now(name))
    }
  }

  func refuse(_ id: RequestID, _ failure: AgentFailure, _ reply: (TokenReply) -> Void) {
    logger.debug("refused", metadata: ["method": "token.get", "failure": "\(failure.kind.rawValue)"])
    reply(.line(AnswerLine.failure(id, failure)))
  }

  static func fingerprint(_ rejected: RejectedToken) throws(AgentFailure) -> Fingerprint {
    switch (rejected.fingerprint, rejected.token) {
    case (let text?, nil):
      guard let fingerprint = Fingerprint(text) else {
        throw AgentFailure(.badRequest, "rejected.fingerprint is not sha256: and 32 hex digits")
      }
      return fingerprint
    case (nil, let token?) where (1...WireLimits.tokenBytes).contains(token.utf8.count):
      return Fingerprint(of: Secret(token))
    default:
      throw AgentFailure(.badRequest, "rejected names either a fingerprint or a token")
    }
  }
}

/// The bounds of `token.get`'s numbers.
struct TokenBounds {
  let timeoutSeconds: Double

  init(_ request: TokenGet) throws(AgentFailure) {
    let timeout = request.timeoutMilliseconds ?? WireLimits.defaultTimeoutMilliseconds
    guard (1...WireLimits.timeoutMilliseconds).contains(timeout) else {
      throw AgentFailure(.badRequest, "timeout_ms is 1 to \(WireLimits.timeoutMilliseconds)")
    }
    guard (0...TokenLine.greatestValiditySeconds).contains(request.minValiditySeconds ?? 0) else {
      throw AgentFailure(.badRequest, "min_validity_s is 0 to \(TokenLine.greatestValiditySeconds)")
    }
    timeoutSeconds = Double(timeout) / 1_000
  }
}

extension ConfigurationProblem {
  /// Where in the file, and what is wrong.
  var sentence: String {
    (line.map { "line \($0): " } ?? "") + (key.map { "\($0): " } ?? "") + reason
  }
}
