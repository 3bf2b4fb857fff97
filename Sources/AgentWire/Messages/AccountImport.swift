/// `account.import`: seals a login that was made by another program, as if it had been made here. Sends nothing but what
/// finding the server's endpoints takes: the next request for a token is the first use of the refresh token.
package struct AccountImport: RequestParameters, Equatable {
  package typealias Answer = AccountImportAnswer
  package static let method = Method.accountImport

  package var account: String
  /// Only says what would be bound and replaced; no token is needed for it.
  package var dryRun: Bool?
  package var refreshToken: String?
  package var accessToken: String?
  /// Of the client that the login was made with: kept in the place of one that is there. 1 to 32,768 bytes.
  package var clientSecret: String?
  /// Unix seconds at which the access token ends; nil: not known.
  package var expiresAt: Int?
  /// What was granted; nil: what the file asks for.
  package var scope: [String]?
  /// The `login` of the dry run: that login is replaced, and no other. Nil: there is none.
  package var replaces: String?
  /// Of the dry run: what has changed since is not bound. Needed where the dry run named differences.
  package var bindingDigest: String?
  /// As in `login.start`.
  package var definitionDigest: String?

  package init(
    account: String, dryRun: Bool? = nil, refreshToken: String? = nil, accessToken: String? = nil,
    clientSecret: String? = nil, expiresAt: Int? = nil, scope: [String]? = nil, replaces: String? = nil,
    bindingDigest: String? = nil, definitionDigest: String? = nil
  ) {
    self.account = account
    self.dryRun = dryRun
    self.refreshToken = refreshToken
    self.accessToken = accessToken
    self.clientSecret = clientSecret
    self.expiresAt = expiresAt
    self.scope = scope
    self.replaces = replaces
    self.bindingDigest = bindingDigest
    self.definitionDigest = definitionDigest
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case account, scope, replaces
    case dryRun = "dry_run"
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
    case clientSecret = "client_secret"
    case expiresAt = "expires_at"
    case bindingDigest = "binding_digest"
    case definitionDigest = "definition_digest"
  }

  /// Scope values of one import.
  package static let scopeLimit = 256
}

package struct AccountImportAnswer: Codable, Sendable, Equatable {
  /// How the login would be bound elsewhere than the one before it, or than a secret was given for.
  package var differences: [DefinitionDifference]
  package var bindingDigest: String?
  /// The endpoints of the binding, by the keys of the account file.
  package var endpoints: [String: String]
  /// Of the binding; nil: the agent is too old to tell.
  package var issuer: String?
  /// Names the login that is there; nil without one.
  package var login: String?
  /// Of that login's issuer.
  package var host: String?
  /// Whether the agent can get the next token by itself.
  package var renewable: Bool?

  package init(
    differences: [DefinitionDifference], bindingDigest: String?, endpoints: [String: String],
    issuer: String? = nil, login: String? = nil, host: String? = nil, renewable: Bool? = nil
  ) {
    self.differences = differences
    self.bindingDigest = bindingDigest
    self.endpoints = endpoints
    self.issuer = issuer
    self.login = login
    self.host = host
    self.renewable = renewable
  }

  package enum CodingKeys: String, CodingKey {
    case differences, endpoints, issuer, login, host, renewable
    case bindingDigest = "binding_digest"
  }
}
