import AgentWire

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
    guard (request.furtherURLs?.count ?? 0) <= TokenGet.furtherURLsLimit else {
      throw AgentFailure(.badRequest, "further_urls has at most \(TokenGet.furtherURLsLimit)")
    }
    timeoutSeconds = Double(timeout) / 1_000
  }
}
