/// What an access token is to be used as: its `token_type` (RFC 6749 §7.1), and the scheme before it in `Authorization`.
package enum TokenType: String, Sendable {
  /// Whoever has it may use it (RFC 6750).
  case bearer = "Bearer"
  /// It is worth nothing without proofs by the key that it is bound to (RFC 9449).
  case dpop = "DPoP"
}

extension HTTPRequest {
  /// The kind of token that it asks for: with a proof of possession one that is bound to the key (RFC 9449 §5).
  package var tokenType: TokenType { headers.value(ProofOfPossession.field) == nil ? .bearer : .dpop }
}
