/// How an account gets its tokens (RFC 6749 §1.3, RFC 8628, RFC 7523, RFC 8693): the one list of grants. The flag
/// `--grant` with its help and completion, the key `grant`, the token request and the table in docs/configuration.md
/// are made from it; what a grant sends is one function of OAuthProtocol/Token/TokenRequestGrant.swift.
package enum GrantKind: String, Sendable, CaseIterable, Codable {
  case authorizationCode = "authorization_code"
  case deviceCode = "device_code"
  case clientCredentials = "client_credentials"
  case password
  case jwtBearer = "jwt_bearer"
  case tokenExchange = "token_exchange"
  case identityAssertion = "id_jag"
  case `extension`

  /// What an account has whose file names none.
  package static let standard = GrantKind.authorizationCode

  package var terms: Terms {
    switch self {
    case .authorizationCode:
      Terms(standard: "RFC 6749 §4.1", type: "authorization_code", otherNames: ["code"], giver: .browser)
    case .deviceCode:
      Terms(
        standard: "RFC 8628", type: "urn:ietf:params:oauth:grant-type:device_code", otherNames: ["device"],
        giver: .device)
    case .clientCredentials:
      Terms(
        standard: "RFC 6749 §4.4", type: "client_credentials", giver: .nobody, needs: .clientSecret,
        bringsRefreshToken: false)
    case .password:
      Terms(standard: "RFC 6749 §4.3", type: "password", giver: .nobody, needs: .password)
    case .jwtBearer:
      Terms(
        standard: "RFC 7523 §2.1", type: "urn:ietf:params:oauth:grant-type:jwt-bearer", giver: .nobody,
        needs: .privateKey, bringsRefreshToken: false)
    case .tokenExchange:
      Terms(
        standard: "RFC 8693", type: "urn:ietf:params:oauth:grant-type:token-exchange", giver: .nobody,
        needs: .otherLogin, bringsRefreshToken: false)
    case .identityAssertion:
      Terms(
        standard: "draft-ietf-oauth-identity-assertion-authz-grant",
        type: "urn:ietf:params:oauth:grant-type:jwt-bearer", giver: .nobody, needs: .otherLogin,
        bringsRefreshToken: false)
    case .extension: Terms(standard: "RFC 6749 §4.5", type: nil, giver: .nobody)
    }
  }

  /// Who gives it.
  package enum Giver: Sendable {
    /// A person at a browser, whose redirect comes back to this machine.
    case browser
    /// A person who types a code at any device.
    case device
    /// Nobody: what is kept is enough.
    case nobody
  }

  /// What has to be handed over before a login.
  package enum Need: Sendable {
    case clientSecret, password, privateKey
    /// Of the account whose token is sent.
    case otherLogin

    package var words: String {
      switch self {
      case .clientSecret: "a client secret"
      case .password: "a user name and a password"
      case .privateKey: "a private key"
      case .otherLogin: "a login of another account"
      }
    }
  }

  /// What tells the grants apart.
  package struct Terms: Sendable {
    /// Where it is defined.
    package let standard: String
    /// Its `grant_type` at the token endpoint; nil: the account names it.
    package let type: String?
    /// What `--grant` takes beside the name in account files and `type`.
    package let otherNames: [String]
    package let giver: Giver
    package let need: Need?
    /// Whether the server gives a refresh token with it. One that comes all the same is not kept (RFC 6749 §4.4.3).
    package let bringsRefreshToken: Bool

    init(
      standard: String, type: String?, otherNames: [String] = [], giver: Giver, needs need: Need? = nil,
      bringsRefreshToken: Bool = true
    ) {
      self.standard = standard
      self.type = type
      self.otherNames = otherNames
      self.giver = giver
      self.need = need
      self.bringsRefreshToken = bringsRefreshToken
    }
  }
}
