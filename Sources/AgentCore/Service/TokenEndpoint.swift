import HTTPTerms
package import OAuthProtocol
import OAuthTerms
import Sealing

/// Speaks to authorization servers for the credential service: builds requests from records, sends each once, and
/// reduces the answers to what the state machine decides on.
package struct TokenEndpoint: Sendable {
  /// Seconds for the whole exchange of a refresh: generous, since a lost answer is worse than a slow one.
  static let refreshTimeoutMilliseconds = 60_000

  private let transport: any HTTPTransport

  package init(transport: any HTTPTransport) { self.transport = transport }

  /// Sends `call` once.
  func perform(_ call: TokenCall, now: Moment) async -> TokenCallEnd {
    let request: HTTPRequest
    do {
      request = try tokenRequest(call).httpRequest()
    } catch {
      return .notTried("\(error)")
    }
    var route = call.binding.route
    if call.rotates { route.timeoutMilliseconds = Self.refreshTimeoutMilliseconds }
    switch await transport.perform(request, route: route) {
    case .notSent(let failure):
      let reason = "\(call.binding.issuerHost): \(failure.message)"
      if failure.reason == .installation { return .notInstalled(reason) }
      return failure.isOfThisMachine ? .notTried(reason) : .notSent(reason)
    case .sentNoAnswer(let failure): return .sentNoAnswer("\(call.binding.issuerHost): \(failure.message)")
    case .answered(let answer):
      return .answered(JudgedAnswer(answer, to: request, host: call.binding.issuerHost, now: now))
    }
  }

  private func tokenRequest(_ call: TokenCall) throws(ProtocolError) -> TokenRequest {
    TokenRequest(
      endpoint: try .read(call.binding.tokenEndpoint), client: try call.binding.client(call.clientSecret),
      grant: call.grant, scope: call.scope, resources: call.resource, audiences: call.audience,
      extra: call.binding.extraTokenParameters)
  }

  /// Tells the server to revoke a token (RFC 7009), once.
  func revoke(_ revocation: RevocationRecord, clientSecret: Secret?, now: Moment) async -> RevocationEnd {
    let binding = revocation.binding
    guard let endpoint = binding.revocationEndpoint.flatMap({ try? WebURL($0) }) else {
      return .refused("the server has no revocation endpoint")
    }
    let client: OAuthClient
    // Only the client secret can be what is missing.
    do { client = try binding.client(clientSecret) } catch {
      return .clientRefused("\(error) for \(binding.issuerHost)")
    }
    let hint = RevocationRequest.Hint(rawValue: revocation.hint) ?? .refreshToken
    let request = RevocationRequest(
      endpoint: endpoint, client: client, token: revocation.token.secret, hint: hint
    ).httpRequest()
    switch await transport.perform(request, route: binding.route) {
    case .notSent(let failure), .sentNoAnswer(let failure):
      return .later("\(binding.issuerHost): \(failure.message)", retryAfterSeconds: nil)
    case .answered(let answer):
      let verdict = RevocationVerdict(judging: answer, to: request, now: Int64(now.wallSeconds))
      switch verdict {
      case .done: return .revoked
      case .later(_, let seconds): return .later("\(verdict)", retryAfterSeconds: seconds.map(Double.init))
      case .refused(let error) where error.meaning == .clientRefused:
        // A public client has no secret that could be put right.
        guard client.authentication == .none else { return .clientRefused("\(verdict)") }
        return .refused(
          "\(verdict) It seems to take revocations from clients with a secret only, and this is a public one.")
      case .unsupportedTokenType, .refused, .refusedWithoutReason: return .refused("\(verdict)")
      }
    }
  }
}

extension DefinitionBinding {
  /// How requests to this server travel.
  var route: HTTPRoute {
    HTTPRoute(
      authority: NamedAuthority(file: certificateAuthorityFile, digest: certificateAuthorityDigest), proxy: proxy)
  }

  func client(_ secret: Secret?) throws(ProtocolError) -> OAuthClient {
    guard let method = ClientAuthenticationMethod(rawValue: clientAuthentication) else {
      throw .clientAuthentication("\(clientAuthentication) is not a known method")
    }
    return try OAuthClient(id: clientID, authentication: try method.with(secret))
  }

  var extraTokenParameters: [ExtraParameter] {
    tokenParameters.sorted { $0.key < $1.key }.map { ExtraParameter($0.key, $0.value) }
  }
}

extension JudgedAnswer {
  /// Reduces a token endpoint's answer to `request` (RFC 6749 §5).
  init(_ answer: HTTPAnswer, to request: HTTPRequest, host: String, now: Moment) {
    let judgement = TokenJudgement(judging: answer, to: request, now: Int64(now.wallSeconds))
    switch judgement.verdict {
    case .granted(let grant):
      self.init(
        .granted(
          accessToken: grant.accessToken, tokenType: "Bearer",
          lifeSeconds: grant.lifetime.knownSeconds.map(Double.init),
          scope: grant.scope),
        refreshToken: judgement.salvagedRefreshToken ?? grant.refreshToken,
        refreshTokenLifeSeconds: grant.refreshTokenLifetimeSeconds.map(Double.init))
    case .refused(let error):
      let verdict: Verdict =
        switch error.meaning {
        case .grantRefused: .grantRefused(error: error.code, description: error.explanation)
        case .clientRefused: .clientRefused(error: error.code, description: error.explanation)
        case .requestRefused, .transient: .refused(error: error.code, description: error.explanation)
        }
      self.init(verdict, refreshToken: judgement.salvagedRefreshToken)
    case .refusedWithoutReason(let status):
      self.init(
        .refusedWithoutReason("\(host) refused with status \(status) and no reason"),
        refreshToken: judgement.salvagedRefreshToken)
    case .unusable(let problem, let seconds):
      self.init(
        .undecided(
          reason: "the answer of \(host) is of no use: \(problem)", retryAfterSeconds: seconds.map(Double.init)),
        refreshToken: judgement.salvagedRefreshToken)
    }
    dateSeconds = judgement.serverDateSeconds
    logLine = judgement.verdict.logLine
  }
}
