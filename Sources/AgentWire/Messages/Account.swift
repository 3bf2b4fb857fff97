/// `account.list`: all accounts, worst state first, a page at a time.
package struct AccountList: RequestParameters, Equatable {
  package typealias Answer = AccountPage
  package static let method = Method.accountList

  /// 1 to 500. Default 500.
  package var limit: Int?
  /// The `next` of the page before.
  package var after: String?

  package init(limit: Int? = nil, after: String? = nil) {
    self.limit = limit
    self.after = after
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable { case limit, after }
}

package struct AccountPage: Codable, Sendable, Equatable {
  package var accounts: [AccountSummary]
  package var next: String?

  package init(accounts: [AccountSummary], next: String?) {
    self.accounts = accounts
    self.next = next
  }
}

package struct AccountSummary: Codable, Sendable, Equatable {
  package enum State: String, Codable, Sendable, CaseIterable {
    case ok
    /// A refresh is under way.
    case refreshing
    /// The last refresh failed in passing; it is tried again.
    case retrying
    /// The token ended and nothing renews it before somebody asks.
    case expired
    case loginPending = "login_pending"
    case loginRequired = "login_required"
    case clientRejected = "client_rejected"
    case definitionChanged = "definition_changed"
    /// Its file has a problem; the last good definition holds.
    case configInvalid = "config_invalid"
    /// Defined, and nobody is logged in.
    case new
    /// The vault is locked: what is in it for the account is not known.
    case locked
  }
  package var account: String
  package var accountID: String?
  package var state: State
  /// One line for people when the state is not `ok`.
  package var reason: String?
  package var issuer: String
  package var host: String
  package var hosts: [String]
  package var clientID: String
  package var grant: String
  package var scope: [String]
  /// Unix time the access token ends, nil if unknown or none.
  package var expiresAt: Int?
  package var expiresInSeconds: Int?
  /// Unix time the login ends, as the server said (refresh token life); nil if it did not say.
  package var loginExpiresAt: Int?
  package var renewable: Bool
  /// Milliseconds until the next attempt, when retrying.
  package var retryAfterMilliseconds: Int?
  package var gitUsername: String?
  /// One line: what a person can do about it; `hintKind` is `command` where it is one.
  package var hint: String?
  package var hintKind: String?
  /// The file with the authority of the account's server; nil: the system's.
  package var certificateAuthorityFile: String?
  /// With `config_invalid`: its file is not there any more. Nil: it is.
  package var fileGone: Bool?
  /// With `definition_changed`: not its file has, but the login of an account that lends to it. Nil: the file has.
  package var lenderChanged: Bool?
  /// True: of several accounts that fit, it is the one. Nil: it is not.
  package var isDefault: Bool?
  /// Beginnings of the paths that it is for, where several accounts fit. Nil: none are named.
  package var paths: [String]?
  /// Who has logged in, as the server says, fit to be shown; nil: it does not.
  package var who: String?
  /// True: its tokens are bound to a key (RFC 9449), so a token alone is of no use. Nil: they are not.
  package var dpop: Bool?
  /// With `client_rejected`: the secret or key of the client that is not kept, as in `account.check`; nil: another fault.
  package var missingSecret: String?
  /// With `definition_changed`: the host of the issuer that the login is bound to, where the file names another one. Nil: it does
  /// not.
  package var boundHost: String?
  /// With `new`: somebody was logged in, and has logged out. Nil: it has no login yet.
  package var loggedOut: Bool?

  package init(
    account: String, accountID: String?, state: State, reason: String?, issuer: String, host: String, hosts: [String],
    clientID: String, grant: String, scope: [String], expiresAt: Int?, expiresInSeconds: Int?, loginExpiresAt: Int?,
    renewable: Bool, retryAfterMilliseconds: Int? = nil, gitUsername: String? = nil, hint: NextStep? = nil,
    certificateAuthorityFile: String? = nil, fileGone: Bool? = nil, isDefault: Bool? = nil, paths: [String]? = nil,
    who: String? = nil
  ) {
    self.account = account
    self.accountID = accountID
    self.state = state
    self.reason = reason
    self.issuer = issuer
    self.host = host
    self.hosts = hosts
    self.clientID = clientID
    self.grant = grant
    self.scope = scope
    self.expiresAt = expiresAt
    self.expiresInSeconds = expiresInSeconds
    self.loginExpiresAt = loginExpiresAt
    self.renewable = renewable
    self.retryAfterMilliseconds = retryAfterMilliseconds
    self.gitUsername = gitUsername
    self.hint = hint?.text
    hintKind = hint?.kind
    self.certificateAuthorityFile = certificateAuthorityFile
    self.fileGone = fileGone
    self.isDefault = isDefault
    self.paths = paths
    self.who = who
  }

  package enum CodingKeys: String, CodingKey {
    case account, state, reason, issuer, host, hosts, grant, scope, renewable, hint, paths, who, dpop
    case isDefault = "default"
    case accountID = "account_id"
    case clientID = "client_id"
    case expiresAt = "expires_at"
    case expiresInSeconds = "expires_in_s"
    case loginExpiresAt = "login_expires_at"
    case retryAfterMilliseconds = "retry_after_ms"
    case gitUsername = "git_username"
    case certificateAuthorityFile = "ca_file"
    case fileGone = "file_gone"
    case missingSecret = "missing_secret"
    case boundHost = "bound_host"
    case lenderChanged = "lender_changed"
    case loggedOut = "logged_out"
    case hintKind = "hint_kind"
  }
}

/// One member of a definition that differs from what the login is bound to.
package struct DefinitionDifference: Codable, Sendable, Equatable {
  package var key: String
  package var was: String
  package var now: String

  package init(key: String, was: String, now: String) {
    self.key = key
    self.was = was
    self.now = now
  }
}

/// `account.show`: one account whole.
package struct AccountShow: RequestParameters, Equatable {
  package typealias Answer = AccountDetails
  package static let method = Method.accountShow

  package var account: String
  /// Whether to read the private authority anew and tell what it holds.
  package var withAuthority: Bool?

  package init(account: String, withAuthority: Bool? = nil) {
    self.account = account
    self.withAuthority = withAuthority
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case account
    case withAuthority = "with_authority"
  }
}

package struct AccountDetails: Codable, Sendable, Equatable {
  package var summary: AccountSummary
  package var file: String
  package var endpoints: [String: String]
  /// Kinds of the secrets that are kept; never the secrets.
  package var secrets: [String]
  package var differences: [DefinitionDifference]
  package var problems: [ConfigurationProblem]
  /// Unix time of the login and of the last refresh.
  package var loggedInAt: Int?
  package var refreshedAt: Int?
  /// Names the login that is there; nil: there is none.
  package var login: String?
  package var fingerprint: String?
  /// PEM text: what the login's `ca_file` holds, which is what the login is bound to.
  package var authority: String?
  /// What the tokens are asked for (RFC 8707); nil: nothing.
  package var resource: [String]?
  package var audience: [String]?
  /// An extension's `grant_type` (RFC 6749 §4.5); nil: the grant has its own.
  package var grantType: String?
  /// Nil: it needs no token of another account.
  package var lent: LentTokenNames?
  /// How the client proves itself, as the file says it or else the login is bound to it; nil: neither is known.
  package var clientAuthentication: String?
  /// A JWK: the public half of the private key that is kept; nil: none is.
  package var publicKey: String?
  /// Why the server's last word on who has logged in was not believed, fit to be shown; nil: it was.
  package var identityConcern: String?
  /// What the login asked for and was not granted; nil: nothing.
  package var missingScope: [String]?
  /// A login is under way.
  package var loginPending: Bool?
  /// True: the client was registered dynamically for this account (RFC 7591). Nil: a person gave its id, or nobody knows.
  package var clientRegistered: Bool?

  package init(
    summary: AccountSummary, file: String, endpoints: [String: String], secrets: [String],
    differences: [DefinitionDifference], problems: [ConfigurationProblem], loggedInAt: Int?, refreshedAt: Int?,
    fingerprint: String?
  ) {
    self.summary = summary
    self.file = file
    self.endpoints = endpoints
    self.secrets = secrets
    self.differences = differences
    self.problems = problems
    self.loggedInAt = loggedInAt
    self.refreshedAt = refreshedAt
    self.fingerprint = fingerprint
  }

  package enum CodingKeys: String, CodingKey {
    case summary, file, endpoints, secrets, differences, problems, fingerprint, authority, resource, audience, lent,
      login
    case grantType = "grant_type"
    case clientAuthentication = "client_authentication"
    case loggedInAt = "logged_in_at"
    case refreshedAt = "refreshed_at"
    case publicKey = "public_key"
    case identityConcern = "identity_concern"
    case missingScope = "missing_scope"
    case loginPending = "login_pending"
    case clientRegistered = "client_registered"
  }
}
