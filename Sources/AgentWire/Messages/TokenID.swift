/// `token.id`: the ID token of an account's login (OpenID Connect Core 1.0 §2). A method of its own: nobody takes one for
/// an access token, and `token.get` stays as it is.
package struct TokenID: RequestParameters, Equatable {
  package typealias Answer = IDTokenAnswer
  package static let method = Method.tokenID

  /// May be left out where there is one account.
  package var account: String?
  /// Milliseconds to wait at most, 1 to 600,000. Default 30,000.
  package var timeoutMilliseconds: Int?

  package init(account: String? = nil, timeoutMilliseconds: Int? = nil) {
    self.account = account
    self.timeoutMilliseconds = timeoutMilliseconds
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case account
    case timeoutMilliseconds = "timeout_ms"
  }
}

package struct IDTokenAnswer: Codable, Sendable, Equatable {
  package var idToken: String
  package var account: String
  package var accountID: String
  /// `exp`, Unix time.
  package var expiresAt: Int
  /// From now, by the server's clock where that is known.
  package var expiresInSeconds: Int
  package var issuer: String
  /// `sub`
  package var subject: String
  /// Who that is, fit to be shown.
  package var who: String?

  package init(
    idToken: String, account: String, accountID: String, expiresAt: Int, expiresInSeconds: Int, issuer: String,
    subject: String, who: String?
  ) {
    self.idToken = idToken
    self.account = account
    self.accountID = accountID
    self.expiresAt = expiresAt
    self.expiresInSeconds = expiresInSeconds
    self.issuer = issuer
    self.subject = subject
    self.who = who
  }

  package enum CodingKeys: String, CodingKey {
    case account, issuer, subject, who
    case idToken = "id_token"
    case accountID = "account_id"
    case expiresAt = "expires_at"
    case expiresInSeconds = "expires_in_s"
  }
}
