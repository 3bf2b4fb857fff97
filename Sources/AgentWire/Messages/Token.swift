/// Names the token that an API answered 401 for: by fingerprint, or by itself. Exactly one is set.
package struct RejectedToken: Codable, Sendable, Equatable {
  package var fingerprint: String?
  package var token: String?

  package init(fingerprint: String) { self.fingerprint = fingerprint }
  package init(token: String) { self.token = token }
}

/// `token.get`: the current access token of an account.
package struct TokenGet: RequestParameters, Equatable {
  package typealias Answer = TokenAnswer
  package static let method = Method.tokenGet

  package enum Interaction: String, Codable, Sendable {
    /// Fails with `login_required` when a person is needed.
    case never
    /// Waits for a login that is under way, until `timeout_ms`.
    case wait
  }

  /// Account name. Either this or `url` may be left out where exactly one account fits.
  package var account: String?
  /// The URL the token is for: the account whose `hosts` hold it; with `account`, the host must be one of its `hosts`.
  package var url: String?
  /// Chooses among the accounts that `url` fits: an account's own name, its `username` or its `git_username`.
  package var username: String?
  package var scope: [String]?
  package var resource: [String]?
  package var audience: [String]?
  /// Seconds the token must still be valid, 0 to 86,400. Default: the smaller of 60 and a third of its life.
  package var minValiditySeconds: Int?
  package var rejected: RejectedToken?
  /// Refreshes without naming a rejected token. Counts against the same rate; never sent by helpers.
  package var force: Bool?
  package var interaction: Interaction?
  /// Milliseconds to wait at most, 1 to 600,000. Default 30,000.
  package var timeoutMilliseconds: Int?
  /// Answers with what there is when `min_validity_s` cannot be met.
  package var bestEffort: Bool?
  /// What an API said that the token has to have (`insufficient_scope`, RFC 6750 §3.1): fails where the login lacks it.
  package var neededScope: [String]?
  /// Other URLs that the same token is for: their hosts must be the account's, too. At most ``furtherURLsLimit``.
  package var furtherURLs: [String]?

  package static let furtherURLsLimit = 64

  package init(
    account: String? = nil, url: String? = nil, username: String? = nil, scope: [String]? = nil,
    resource: [String]? = nil,
    audience: [String]? = nil, minValiditySeconds: Int? = nil, rejected: RejectedToken? = nil, force: Bool? = nil,
    interaction: Interaction? = nil, timeoutMilliseconds: Int? = nil, bestEffort: Bool? = nil
  ) {
    self.account = account
    self.url = url
    self.username = username
    self.scope = scope
    self.resource = resource
    self.audience = audience
    self.minValiditySeconds = minValiditySeconds
    self.rejected = rejected
    self.force = force
    self.interaction = interaction
    self.timeoutMilliseconds = timeoutMilliseconds
    self.bestEffort = bestEffort
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case account, url, username, scope, resource, audience, rejected, force, interaction
    case minValiditySeconds = "min_validity_s"
    case timeoutMilliseconds = "timeout_ms"
    case bestEffort = "best_effort"
    case neededScope = "needed_scope"
    case furtherURLs = "further_urls"
  }
}

/// The result of `token.get`: one token as it crosses the socket.
package struct TokenAnswer: Codable, Sendable, Equatable {
  package var accessToken: String
  /// As to be written before the token in `Authorization` (RFC 6750): `Bearer`.
  package var tokenType: String
  /// Unix time, or nil where the server never named a life.
  package var expiresAt: Int?
  package var expiresInSeconds: Int?
  package var scope: [String]
  package var account: String
  package var accountID: String
  /// SHA-256 in hex of the private authority that the login is bound to; nil: it is bound to none.
  package var authorityDigest: String?
  /// The issuer's host, `host` or `host:port`, that the login is bound to, for which that authority counts on any port; nil:
  /// there is none.
  package var authorityHost: String?
  /// `sha256:` and the first 32 hex digits of the token's SHA-256.
  package var fingerprint: String
  /// The entry of `hosts` that `url` matched, or nil where the request named no `url`.
  package var matchedHost: String?
  /// User name for Basic authentication with git (account setting), or nil.
  package var gitUsername: String?
  /// One line for people: another account may be the one that was meant.
  package var warning: String?

  package init(
    accessToken: String, tokenType: String, expiresAt: Int?, expiresInSeconds: Int?, scope: [String], account: String,
    accountID: String, authorityDigest: String? = nil, authorityHost: String? = nil, fingerprint: String,
    matchedHost: String? = nil, gitUsername: String? = nil, warning: String? = nil
  ) {
    self.accessToken = accessToken
    self.tokenType = tokenType
    self.expiresAt = expiresAt
    self.expiresInSeconds = expiresInSeconds
    self.scope = scope
    self.account = account
    self.accountID = accountID
    self.authorityDigest = authorityDigest
    self.authorityHost = authorityHost
    self.fingerprint = fingerprint
    self.matchedHost = matchedHost
    self.gitUsername = gitUsername
    self.warning = warning
  }

  package enum CodingKeys: String, CodingKey {
    case scope, account, fingerprint, warning
    case accessToken = "access_token"
    case tokenType = "token_type"
    case expiresAt = "expires_at"
    case expiresInSeconds = "expires_in_s"
    case accountID = "account_id"
    case authorityDigest = "authority_digest"
    case authorityHost = "authority_host"
    case matchedHost = "matched_host"
    case gitUsername = "git_username"
  }
}

/// `token.reject`: tells that an API refused a token, without waiting for another.
package struct TokenReject: RequestParameters, Equatable {
  package typealias Answer = TokenRejectAnswer
  package static let method = Method.tokenReject

  package var account: String?
  package var url: String?
  /// As in ``TokenGet/username``.
  package var username: String?
  package var rejected: RejectedToken

  package init(account: String? = nil, url: String? = nil, username: String? = nil, rejected: RejectedToken) {
    self.account = account
    self.url = url
    self.username = username
    self.rejected = rejected
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable { case account, url, username, rejected }
}

package struct TokenRejectAnswer: Codable, Sendable, Equatable {
  package enum Verdict: String, Codable, Sendable {
    /// It was current: the next `token.get` refreshes.
    case marked
    /// A newer token is there already.
    case superseded
    /// Not a token of this account.
    case unknown
    /// It is current and stays so: that place refused a new one just as well.
    case kept
  }
  package var result: Verdict

  package init(_ result: Verdict) { self.result = result }
}
