import HTTPTerms
import OAuthProtocol
import Sealing

/// Sends requests to authorization servers: once, and where the tokens are bound to a key, with a proof of it, and once
/// more when the server refuses that proof for want of its nonce (RFC 9449 §8).
///
/// The second sending is no repetition of the first: the answer to that says that nothing of it was used up. There is one
/// second sending at most, so a server that always wants another nonce gets no further; its refusal is the answer then.
struct ProvenExchange: Sendable {
  let transport: any HTTPTransport
  let nonces: ServerNonces
  let time: any TimeKeeper
  let random: any RandomSource

  struct Sent {
    let request: HTTPRequest
    let outcome: HTTPOutcome
    /// It was refused for want of a nonce, so nothing of it was used up.
    var isUnproven = false
    /// The nonce is known now, and was not in it.
    var hasNewNonce = false
  }

  /// `make` builds the request anew for each sending, since what proves the client is used once. `key` is as it is sealed
  /// with the login; nil: tokens are bound to no key. `now` is by the server's clock, where that is known.
  ///
  /// Throws what `make` throws, and ``ProtocolError/clientAuthentication(_:)`` for a key that cannot sign: nothing of the
  /// request was used up then.
  func perform(
    _ key: Secret?, at now: Moment, route: HTTPRoute,
    _ make: @Sendable (ClientProof) throws(ProtocolError) -> HTTPRequest
  ) async throws(ProtocolError) -> (request: HTTPRequest, outcome: HTTPOutcome) {
    let began = time.now()
    let first = try await performOnce(key, at: now, route: route, make)
    guard first.hasNewNonce else { return (first.request, first.outcome) }
    // Both together take no longer than one may, and the second gets half of that at least.
    let elapsed = time.now().elapsed(since: began)
    let left = route.timeoutMilliseconds - Int(elapsed * 1_000)
    guard left >= route.timeoutMilliseconds / 2 else { return (first.request, first.outcome) }
    var route = route
    route.timeoutMilliseconds = left
    let second = try await performOnce(key, at: now.advanced(by: elapsed), route: route, make)
    return (second.request, second.outcome)
  }

  /// As `perform`, without the second sending: where something is to be written down first.
  func performOnce(
    _ key: Secret?, at now: Moment, route: HTTPRoute,
    _ make: @Sendable (ClientProof) throws(ProtocolError) -> HTTPRequest
  ) async throws(ProtocolError) -> Sent {
    var request = try make(ClientProof(at: now, random: random))
    guard let key else { return Sent(request: request, outcome: await transport.perform(request, route: route)) }
    let proofKey = try ProofKey(stored: key)
    let url = try WebURL.read(request.url)
    let used = nonces.nonce(for: url.origin, key: proofKey.thumbprint)
    try prove(&request, url, proofKey, used, at: now)
    let outcome = await send(request, url.origin, proofKey, route)
    guard case .answered(let answer) = outcome, let demanded = answer.demandedNonce else {
      return Sent(request: request, outcome: outcome)
    }
    return Sent(request: request, outcome: outcome, isUnproven: true, hasNewNonce: demanded != used)
  }

  private func prove(
    _ request: inout HTTPRequest, _ url: WebURL, _ key: ProofKey, _ nonce: String?, at now: Moment
  ) throws(ProtocolError) {
    let once = ClientProof(at: now, random: random)
    let proof = ProofOfPossession(
      method: request.method.rawValue, url: url, issuedAt: once.seconds, id: once.id, nonce: nonce)
    request.headers.append(HTTPField(ProofOfPossession.field, try key.sign(proof)))
  }

  private func send(_ request: HTTPRequest, _ origin: Origin, _ key: ProofKey, _ route: HTTPRoute) async -> HTTPOutcome
  {
    let outcome = await transport.perform(request, route: route)
    if case .answered(let answer) = outcome, let nonce = answer.nextNonce {
      nonces.set(nonce, for: origin, key: key.thumbprint)
    }
    return outcome
  }
}

extension CredentialService {
  nonisolated func exchange(by transport: any HTTPTransport) -> ProvenExchange {
    ProvenExchange(transport: transport, nonces: nonces, time: time, random: random)
  }
}
