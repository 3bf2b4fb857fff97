/// How a client proves itself at the token endpoint, by the registered names (RFC 7591 §2): the one list, for the flag
/// `--client-authentication`, the key `client_authentication` and the request.
package enum ClientAuthenticationMethod: String, Sendable, Codable, CaseIterable {
  case none
  case clientSecretBasic = "client_secret_basic"
  case clientSecretPost = "client_secret_post"

  /// What the command line takes beside the registered name.
  package var otherNames: [String] {
    switch self {
    case .none: []
    case .clientSecretBasic: ["basic"]
    case .clientSecretPost: ["post"]
    }
  }

  /// Another way to send the same secret: some servers take one of them only.
  package var otherWithSecret: Self? {
    switch self {
    case .none: nil
    case .clientSecretBasic: .clientSecretPost
    case .clientSecretPost: .clientSecretBasic
    }
  }

  package var needsSecret: Bool {
    switch self {
    case .none: false
    case .clientSecretBasic, .clientSecretPost: true
    }
  }
}
