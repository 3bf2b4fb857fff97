/// How a client proves itself at the token endpoint, by the registered names (RFC 7591 §2): the one list, for the flag
/// `--client-authentication`, the key `client_authentication` and the request.
package enum ClientAuthenticationMethod: String, Sendable, Codable, CaseIterable {
  case none
  case clientSecretBasic = "client_secret_basic"
  case clientSecretPost = "client_secret_post"
  case clientSecretJWT = "client_secret_jwt"
  case privateKeyJWT = "private_key_jwt"
  /// A certificate that an authority signed which the server trusts (RFC 8705 §2.1).
  case tlsClientAuth = "tls_client_auth"
  /// A certificate that is registered itself (RFC 8705 §2.2).
  case selfSignedTLSClientAuth = "self_signed_tls_client_auth"

  /// What the command line takes beside the registered name.
  package var otherNames: [String] {
    switch self {
    case .none, .clientSecretJWT, .privateKeyJWT, .tlsClientAuth, .selfSignedTLSClientAuth: []
    case .clientSecretBasic: ["basic"]
    case .clientSecretPost: ["post"]
    }
  }

  /// Another way to send the same secret: some servers take one of them only.
  package var otherWithSecret: Self? {
    switch self {
    case .none, .privateKeyJWT, .tlsClientAuth, .selfSignedTLSClientAuth: nil
    case .clientSecretJWT: .clientSecretBasic
    case .clientSecretBasic: .clientSecretPost
    case .clientSecretPost: .clientSecretBasic
    }
  }

  /// What is kept for it as the client's secret; nil: nothing.
  package var proof: Proof? {
    switch self {
    case .none: nil
    case .clientSecretBasic, .clientSecretPost, .clientSecretJWT: .sharedSecret
    case .privateKeyJWT: .privateKey
    case .tlsClientAuth, .selfSignedTLSClientAuth: .certificate
    }
  }

  package var needsSecret: Bool { proof != nil }

  /// Whether the client signs an assertion about itself (RFC 7523 §2.2).
  package var signs: Bool { self == .clientSecretJWT || self == .privateKeyJWT }

  /// Whether requests hold the client's secret itself.
  package var sendsSecret: Bool { proof == .sharedSecret && !signs }

  /// Whether an account with `method` (nil: the default) and `grant` has a private key.
  package static func needsPrivateKey(_ method: Self?, _ grant: GrantKind?) -> Bool {
    method?.proof?.isPrivateKey == true || grant?.terms.need == .privateKey
  }

  /// The command that keeps a key which is there already, for the account `name` with `method` (nil: the default): with its
  /// certificate, where that is shown.
  package static func keyImport(_ name: String, _ method: Self?) -> String {
    method?.proof == .certificate
      ? "cat KEY CERTIFICATE | oauthctl key import \(name)" : "oauthctl key import \(name) < FILE"
  }

  package enum Proof: Sendable {
    /// What the server knows as well.
    case sharedSecret
    /// What never leaves the vault: the server knows the public half.
    case privateKey
    /// Such a key, with the certificate of it that the client shows when it connects (RFC 8705).
    case certificate

    package var isPrivateKey: Bool { self != .sharedSecret }
  }
}
