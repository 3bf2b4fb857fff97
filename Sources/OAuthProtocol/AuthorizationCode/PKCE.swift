package import Sealing

/// Proof Key for Code Exchange, S256 only (RFC 7636).
package struct PKCE: Sendable {
  /// 43…128 unreserved characters.
  package let verifier: Secret
  /// BASE64URL(SHA256(verifier)), 43 characters.
  package let challenge: String

  /// From 32 random bytes.
  package init(random: some RandomSource) {
    self.init(verifier: Secret(Base64URL.encode(random.bytes(32))))
  }

  /// Takes up a verifier that was kept, for instance over a restart during a login.
  package init(verifier: Secret) {
    self.verifier = verifier
    challenge = Self.challenge(for: verifier)
  }

  /// The S256 transformation (RFC 7636 §4.2).
  package static func challenge(for verifier: Secret) -> String { Base64URL.encode(Digest.sha256(verifier)) }
}

/// The `state` parameter (RFC 6749 §10.12): what makes a redirect ours.
package enum AuthorizationState {
  /// 43 unreserved characters from 32 random bytes.
  package static func make(random: some RandomSource) -> Secret { Secret(Base64URL.encode(random.bytes(32))) }
}
