package import OAuthTerms
package import Sealing

/// What is given to the token endpoint for a token: a `grant_type` and the parameters that belong to it.
package struct TokenRequestGrant: Sendable {
  package let type: String
  package internal(set) var parameters = FormParameters()
  /// What a server that rotates takes from us with the request; nil: nothing is used up.
  package private(set) var refreshToken: Secret?
  /// What is added at the moment at which it is sent; nil: it is whole.
  package private(set) var missing: Missing?

  package enum Missing: Sendable {
    /// An assertion that the client signs (RFC 7523 §2.1).
    case assertion
    /// Tokens of other accounts (RFC 8693 §2.1).
    case lentTokens
  }

  init(type: String) { self.type = type }

  init(_ kind: GrantKind, missing: Missing? = nil) {
    self.init(type: kind.terms.type ?? kind.rawValue)
    self.missing = missing
  }

  /// RFC 6749 §4.1.3; `redirectURI` is the one of the authorization request, to the byte.
  package static func authorizationCode(_ code: Secret, redirectURI: String, codeVerifier: Secret) -> Self {
    var grant = Self(.authorizationCode)
    grant.parameters.append("code", code)
    grant.parameters.append("redirect_uri", redirectURI)
    grant.parameters.append("code_verifier", codeVerifier)
    return grant
  }

  /// RFC 6749 §6, whatever grant the token came with.
  package static func refreshToken(_ token: Secret) -> Self {
    var grant = Self(type: "refresh_token")
    grant.parameters.append("refresh_token", token)
    grant.refreshToken = token
    return grant
  }

  /// RFC 6749 §4.4
  package static var clientCredentials: Self { Self(.clientCredentials) }

  /// RFC 6749 §4.3, for servers that offer nothing else.
  package static func password(username: String, password: Secret) -> Self {
    var grant = Self(.password)
    grant.parameters.append("username", username)
    grant.parameters.append("password", password)
    return grant
  }

  /// RFC 8628 §3.4
  package static func deviceCode(_ code: Secret) -> Self {
    var grant = Self(.deviceCode)
    grant.parameters.append("device_code", code)
    return grant
  }

  /// RFC 7523 §2.1: what says so is signed for the moment at which it is sent.
  package static var jwtBearer: Self { Self(.jwtBearer, missing: .assertion) }

  package func with(assertion: Secret) -> Self {
    var grant = Self(type: type)
    grant.parameters.append("assertion", assertion)
    return grant
  }

  /// RFC 6749 §4.5: `type` is an absolute URI, and all else that is sent are the account's own parameters.
  package static func `extension`(_ type: String) -> Self { Self(type: type) }

  /// What an account asks with where nobody is there; nil: `kind` needs a person, or something that is not kept. `type` is
  /// that of an extension.
  package static func unattended(
    _ kind: GrantKind, username: String?, password: Secret?, type: String? = nil
  ) -> Self? {
    switch kind {
    case .authorizationCode, .deviceCode: return nil
    case .clientCredentials: return .clientCredentials
    case .jwtBearer: return .jwtBearer
    case .tokenExchange: return .tokenExchange
    case .identityAssertion: return .identityAssertion
    case .extension: return type.map { .extension($0) }
    case .password:
      guard let username, let password else { return nil }
      return .password(username: username, password: password)
    }
  }
}
