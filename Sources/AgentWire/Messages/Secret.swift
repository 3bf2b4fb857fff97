/// What `secret.set` may keep for an account.
package enum SecretKind: String, Codable, Sendable, CaseIterable {
  case clientSecret = "client_secret"
  case password
  case refreshToken = "refresh_token"
}

/// `secret.set`: hands a secret to the vault. It is never read back.
package struct SecretSet: RequestParameters {
  package typealias Answer = EmptyResult
  package static let method = Method.secretSet

  package var account: String
  package var kind: SecretKind
  /// 1 to 32,768 bytes.
  package var value: String
  /// For `password`: keeps it durably, so that the agent logs in again by itself. Without, it is for one login.
  package var keep: Bool?
  /// 1 to 64 bytes: it is for the `login.start` with the same word, and what is kept stays until that login has ended well. A
  /// password is kept then where `keep` says so. Nil: it is kept at once. Not for `refresh_token`.
  package var secretsID: String?
  /// The `secret_place` of `account.check`, where somebody was shown it: for another server the secret is refused.
  package var secretPlace: String?
  /// For `refresh_token`: the `login` of `account.show`, where somebody was asked about it: another one keeps its own.
  package var login: String?

  package init(
    account: String, kind: SecretKind, value: String, keep: Bool? = nil, secretsID: String? = nil,
    secretPlace: String? = nil, login: String? = nil
  ) {
    self.account = account
    self.kind = kind
    self.value = value
    self.keep = keep
    self.secretsID = secretsID
    self.secretPlace = secretPlace
    self.login = login
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case account, kind, value, keep, login
    case secretsID = "secrets_id"
    case secretPlace = "secret_place"
  }
}

/// `secret.forget`.
package struct SecretForget: RequestParameters, Equatable {
  package typealias Answer = EmptyResult
  package static let method = Method.secretForget

  package var account: String
  package var kind: SecretKind
  /// The `public_key` of `account.show` that somebody was shown: with another private key nothing is deleted.
  package var publicKey: String?

  package init(account: String, kind: SecretKind, publicKey: String? = nil) {
    self.account = account
    self.kind = kind
    self.publicKey = publicKey
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case account, kind
    case publicKey = "public_key"
  }
}

/// `logout`: revokes the tokens at the server (RFC 7009) and forgets them.
package struct Logout: RequestParameters, Equatable {
  package typealias Answer = LogoutAnswer
  package static let method = Method.logout

  package var account: String

  package init(account: String) { self.account = account }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable { case account }
}

package struct LogoutAnswer: Codable, Sendable, Equatable {
  package enum Revocation: String, Codable, Sendable {
    case revoked
    /// The server names no revocation endpoint.
    case unsupported
    /// The server could not be told now; the agent keeps the token sealed and tries again.
    case pending
    /// The server refused; `reason` says how.
    case refused
    /// There was nothing to revoke.
    case none
  }
  package var revocation: Revocation
  package var reason: String?

  package init(revocation: Revocation, reason: String? = nil) {
    self.revocation = revocation
    self.reason = reason
  }
}
