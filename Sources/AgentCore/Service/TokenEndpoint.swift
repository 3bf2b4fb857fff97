import HTTPTerms
import OAuthProtocol
import Sealing

/// Speaks to authorization servers for the credential service: builds requests from records, sends each as
/// ``ProvenExchange`` does, and judges the answers.
struct TokenEndpoint: Sendable {
  /// Seconds for the whole exchange of a refresh: generous, since a lost answer is worse than a slow one.
  static let refreshTimeoutMilliseconds = 60_000

  private let exchange: ProvenExchange

  init(_ exchange: ProvenExchange) { self.exchange = exchange }

  /// Sends `call`.
  func perform(_ call: TokenCall, now: Moment) async -> TokenCallEnd {
    // Without its key a refresh token is refused, and some servers take that for theft.
    guard !call.binding.isBound || call.proofKey != nil else {
      return .notTried("the key is gone that its tokens are bound to (DPoP)")
    }
    let route = Self.route(of: call)
    @Sendable func make(_ proof: ClientProof) throws(ProtocolError) -> HTTPRequest {
      var request = try tokenRequest(call, proof).httpRequest()
      request.isPublicOnly = call.binding.isPublicOnly(request)
      return request
    }
    let (request, outcome): (HTTPRequest, HTTPOutcome)
    var (isUnproven, hasNewNonce) = (false, false)
    do throws(ProtocolError) {
      if call.rotates {
        // That nothing was used up is written down before it is sent once more.
        let sent = try await exchange.performOnce(call.proofKey, at: now, route: route, make)
        (request, outcome, isUnproven, hasNewNonce) = (sent.request, sent.outcome, sent.isUnproven, sent.hasNewNonce)
      } else {
        (request, outcome) = try await exchange.perform(call.proofKey, at: now, route: route, make)
      }
    } catch {
      return .notTried("\(error)")
    }
    switch outcome {
    case .notSent(let failure):
      let reason = "\(call.binding.issuerHost): \(failure.message)"
      if failure.reason == .installation { return .notInstalled(reason) }
      if failure.reason == .authority { return .noAuthority(reason) }
      if failure.reason == .clientCertificate { return .noCertificate(reason) }
      return failure.isOfThisMachine ? .notTried(reason) : .notSent(reason)
    case .sentNoAnswer(let failure):
      if let judgement = failure.judgement(of: request, now: now), !judgement.hasUnusableRefreshToken {
        return .answered(judgement)
      }
      return .sentNoAnswer("\(call.binding.issuerHost): \(failure.message)")
    case .answered(let answer):
      let judgement = TokenJudgement(judging: answer, to: request, now: Int64(now.wallSeconds))
      if call.rotates, judgement.hasUnusableRefreshToken { return .sentNoAnswer(Self.unusable(call.binding)) }
      guard isUnproven, judgement.salvagedRefreshToken == nil else { return .answered(judgement) }
      return .unproven(judgement, hasNewNonce: hasNewNonce)
    }
  }

  /// The server may have used up the refresh token that was sent, and nothing can be sent in its place: for the account
  /// that is an answer which was lost.
  private static func unusable(_ binding: DefinitionBinding) -> String {
    "\(binding.issuerHost) answered with a refresh token that is no text of 1 to \(TokenResponse.tokenLimitBytes) bytes"
  }

  /// What is sent at once when the connection is there leaves before the reuse window ends.
  static func route(of call: TokenCall) -> HTTPRoute {
    var route = call.binding.route
    if call.rotates { route.timeoutMilliseconds = Self.refreshTimeoutMilliseconds }
    if let seconds = call.leavesWithinSeconds {
      route.connectTimeoutMilliseconds = min(route.connectTimeoutMilliseconds, max(1, Int(seconds * 1_000)))
    }
    return route
  }

  private func tokenRequest(_ call: TokenCall, _ proof: ClientProof) throws(ProtocolError) -> TokenRequest {
    let endpoint = try WebURL.read(call.binding.tokenEndpoint)
    var request = TokenRequest(
      endpoint: endpoint, client: try call.binding.client(call.clientSecret, proof, to: endpoint),
      grant: try call.binding.signed(call.grant, scope: call.scope, call.clientSecret, proof.other), scope: call.scope,
      resources: call.resource, audiences: call.audience,
      extra: call.binding.extraTokenParameters)
    request.scopeSeparator = call.scopeSeparator
    return request
  }

  /// Tells the server to delete a client (RFC 7592), once.
  private func delete(_ revocation: RevocationRecord, at uri: String, now: Moment) async -> RevocationEnd {
    guard let uri = try? WebURL(uri) else { return .refused("its address is none") }
    var request = ClientManagement(uri: uri, accessToken: revocation.token.secret).deletion()
    request.isPublicOnly = revocation.binding.isPublicOnly(request)
    switch await exchange.transport.perform(request, route: revocation.binding.route) {
    case .notSent(let failure), .sentNoAnswer(let failure):
      return .later("\(revocation.binding.issuerHost): \(failure.message)", retryAfterSeconds: nil)
    case .answered(let answer):
      let verdict = ClientDeletionVerdict(judging: answer, now: Int64(now.wallSeconds))
      return switch verdict {
      case .done: .revoked
      case .later(_, let seconds): .later("\(verdict)", retryAfterSeconds: seconds.map(Double.init))
      case .refused: .refused("\(verdict)")
      }
    }
  }

  /// Tells the server to revoke a token (RFC 7009), or to delete a client, once.
  func revoke(_ revocation: RevocationRecord, clientSecret: Secret?, now: Moment) async -> RevocationEnd {
    let binding = revocation.binding
    if let uri = revocation.clientURI { return await delete(revocation, at: uri, now: now) }
    guard let endpoint = binding.revocationEndpoint.flatMap({ try? WebURL($0) }) else {
      return .refused("the server has no revocation endpoint")
    }
    let client: OAuthClient
    // Only the client secret can be what is missing.
    do {
      client = try binding.client(clientSecret, ClientProof(at: now, random: exchange.random), to: endpoint)
    } catch {
      return .clientRefused("\(error) for \(binding.issuerHost)")
    }
    let hint = RevocationRequest.Hint(rawValue: revocation.hint) ?? .refreshToken
    var request = RevocationRequest(
      endpoint: endpoint, client: client, token: revocation.token.secret, hint: hint
    ).httpRequest()
    request.isPublicOnly = binding.isPublicOnly(request)
    switch await exchange.transport.perform(request, route: binding.route) {
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

extension HTTPFailure {
  /// What came of a token endpoint's answer to `request` before its connection failed, where that counts.
  func judgement(of request: HTTPRequest, now: Moment) -> TokenJudgement? {
    cut.flatMap { TokenJudgement(judgingCut: $0, to: request, now: Int64(now.wallSeconds)) }
  }
}

extension DefinitionBinding {
  /// How requests to this server travel.
  var route: HTTPRoute {
    HTTPRoute(
      authority: NamedAuthority(file: certificateAuthorityFile, digest: certificateAuthorityDigest), proxy: proxy)
  }

  func isPublicOnly(_ request: HTTPRequest) -> Bool { publicOnly?.contains(request.url) == true }

  var extraTokenParameters: [ExtraParameter] {
    tokenParameters.sorted { $0.key < $1.key }.map { ExtraParameter($0.key, $0.value) }
  }
}
