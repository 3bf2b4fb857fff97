/// `dpop.proof`: the current access token of an account whose tokens are bound to a key, and a proof for one request with it
/// (RFC 9449 §7).
package struct DPoPProof: RequestParameters, Equatable {
  package typealias Answer = DPoPProofAnswer
  package static let method = Method.dpopProof

  /// As in ``TokenGet/account``.
  package var account: String?
  /// The URL of the request that the proof is for; its host must be one of the account's `hosts`.
  package var url: String
  /// The request's method, as it is sent: 1 to 32 characters of a token (RFC 9110 §5.6.2).
  package var method: String
  /// As the URL's server gave it in `DPoP-Nonce`; it is remembered for later proofs.
  package var nonce: String?
  /// As in ``TokenGet``.
  package var username: String?
  package var scope: [String]?
  package var resource: [String]?
  package var audience: [String]?
  package var minValiditySeconds: Int?
  package var rejected: RejectedToken?
  package var force: Bool?
  package var timeoutMilliseconds: Int?

  package init(account: String? = nil, url: String, method: String, nonce: String? = nil) {
    self.account = account
    self.url = url
    self.method = method
    self.nonce = nonce
  }

  /// Longest method, bytes.
  package static let methodLimit = 32

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case account, url, method, nonce, username, scope, resource, audience, rejected, force
    case minValiditySeconds = "min_validity_s"
    case timeoutMilliseconds = "timeout_ms"
  }
}

package struct DPoPProofAnswer: Codable, Sendable, Equatable {
  /// For the header `DPoP` of that one request: a JWT.
  package var proof: String
  package var accessToken: String
  /// `DPoP`, to be written before the token in `Authorization`.
  package var tokenType: String
  package var expiresAt: Int?
  package var expiresInSeconds: Int?
  package var scope: [String]
  package var account: String
  package var accountID: String
  package var authorityDigest: String?
  package var authorityHost: String?
  package var fingerprint: String
  package var matchedHost: String?
  package var warning: String?

  /// `token` with its proof.
  package init(_ token: TokenAnswer, proof: String) {
    self.proof = proof
    accessToken = token.accessToken
    tokenType = token.tokenType
    expiresAt = token.expiresAt
    expiresInSeconds = token.expiresInSeconds
    scope = token.scope
    account = token.account
    accountID = token.accountID
    authorityDigest = token.authorityDigest
    authorityHost = token.authorityHost
    fingerprint = token.fingerprint
    matchedHost = token.matchedHost
    warning = token.warning
  }

  package enum CodingKeys: String, CodingKey {
    case proof, scope, account, fingerprint, warning
    case accessToken = "access_token"
    case tokenType = "token_type"
    case expiresAt = "expires_at"
    case expiresInSeconds = "expires_in_s"
    case accountID = "account_id"
    case authorityDigest = "authority_digest"
    case authorityHost = "authority_host"
    case matchedHost = "matched_host"
  }
}
