import AgentWire

/// What an account gives whose tokens are bound to a key (DPoP): a token with a proof for one request, where `token.get` is
/// answered `proof_required`.
enum ProvenToken {
  /// Asks for it where `error` says that one is needed and `request` names the request that it is for; nil: it is another
  /// error.
  static func asked(
    after error: CommandError, _ request: TokenGet, method: String, nonce: String? = nil, _ agent: any AgentCalling
  ) throws(CommandError) -> DPoPProofAnswer? {
    guard case .agent(let failure, _) = error, failure.kind == .proofRequired, let url = request.url else { return nil }
    var question = DPoPProof(account: request.account, url: url, method: method, nonce: nonce)
    question.scope = request.scope
    question.resource = request.resource
    question.audience = request.audience
    question.minValiditySeconds = request.minValiditySeconds
    question.rejected = request.rejected
    question.force = request.force
    question.timeoutMilliseconds = request.timeoutMilliseconds
    return try agent.call(
      question, about: request.account,
      timeoutMilliseconds: (request.timeoutMilliseconds ?? WireLimits.defaultTimeoutMilliseconds) + 5_000)
  }
}
