package import AgentWire
import HTTPTerms
import OAuthProtocol
import Sealing

/// Tokens that are bound to a key (RFC 9449). Such a token is given with a proof for one request, or not at all: whoever
/// cannot send proofs could do nothing with it.
extension CredentialService {
  /// `dpop.proof`.
  package func prove(_ request: DPoPProof) async throws(AgentFailure) -> DPoPProofAnswer {
    let url: WebURL
    do throws(URLProblem) { url = try WebURL(request.url) } catch {
      throw AgentFailure(.badRequest, "url: \(error.rawValue)")
    }
    guard (1...DPoPProof.methodLimit).contains(request.method.utf8.count), HTTPToken.isToken(request.method) else {
      throw AgentFailure(.badRequest, "method is no method of HTTP")
    }
    if let nonce = request.nonce, !DPoPNonce.isValid(nonce) {
      throw AgentFailure(
        .badRequest, "nonce has 1 to \(DPoPNonce.limitBytes) printable ASCII characters without quote and backslash")
    }
    let (token, meaning) = try await obtain(TokenGet(request), isProven: true)
    let choice = meaning.choice
    let key = try proofKey(of: token, choice.name)
    let answer = answer(token, choice)
    let once = ClientProof(at: now(choice.name), random: random)
    let proof = ProofOfPossession(
      method: request.method, url: url, issuedAt: once.seconds, id: once.id, accessToken: token.accessToken.secret)
    let signed: String
    do throws(ProtocolError) {
      signed = try await proofSigner.sign(
        proof, with: key, nonce: request.nonce, at: url.origin, remembering: nonces)
    } catch { throw AgentFailure(.internal, "\(choice.name): \(error)") }
    // A lock, a logout or a change of the file may have come while this waited.
    guard try stillMeant(TokenGet(request), meaning) != nil else { throw .changedJustNow(choice.name) }
    _ = try proofKey(of: token, choice.name)
    return DPoPProofAnswer(answer, proof: signed)
  }

  /// Throws where another login has come, or gone, since `token` was given: its key is another one.
  private func proofKey(of token: TokenRecord, _ name: String) throws(AgentFailure) -> Secret {
    guard let record = accounts[name]?.machine.record, let key = record.grant?.proofKey?.secret,
      record.tokens.contains(where: { $0.fingerprint == token.fingerprint })
    else { throw .changedJustNow(name) }
    return key
  }

  /// Throws where what the account of `choice` has is not what is asked for: tokens that need a proof, or that need none.
  func checkBinding(_ name: String, isProven: Bool) throws(AgentFailure) {
    guard let binding = accounts[name]?.machine.record?.grant?.binding, binding.isBound != isProven else { return }
    throw isProven ? .notBound(name) : .proofRequired(name)
  }
}

extension TokenRecord {
  /// Whether it is worth nothing without proofs by its grant's key.
  var isBound: Bool { tokenType == TokenType.dpop.rawValue }
}

extension TokenGet {
  fileprivate init(_ request: DPoPProof) {
    self.init(
      account: request.account, url: request.url, username: request.username, scope: request.scope,
      resource: request.resource, audience: request.audience, minValiditySeconds: request.minValiditySeconds,
      rejected: request.rejected, timeoutMilliseconds: request.timeoutMilliseconds)
    force = request.force
  }
}

extension AgentFailure {
  static func changedJustNow(_ name: String) -> AgentFailure {
    AgentFailure(
      .unavailable, "\(name): its login has changed just now", hint: "ask again", retryAfterMilliseconds: 1)
  }

  static func proofRequired(_ name: String) -> AgentFailure {
    AgentFailure(
      .proofRequired,
      "\(name): its tokens are bound to a key (DPoP): a token alone is of no use",
      hint:
        "use oauthctl curl \(name) URL, or get-token \(name) --url URL --method METHOD --format headers for each request"
    )
  }

  static func notBound(_ name: String) -> AgentFailure {
    AgentFailure(
      .badRequest, "\(name): its tokens are not bound to a key (DPoP): they need no proof",
      hint: .run("oauthctl get-token \(name)"))
  }
}
