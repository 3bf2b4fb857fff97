/// `account.forget`: deletes what the vault holds for an account, without telling the server. What a logout before still
/// has to tell stays.
package struct AccountForget: RequestParameters, Equatable {
  package typealias Answer = AccountForgetAnswer
  package static let method = Method.accountForget

  package var account: String
  /// Only tells what is there.
  package var dryRun: Bool?
  /// The login that a person was shown, as the answer to `dryRun` names it; empty: there was none. Another one is not
  /// deleted.
  package var login: String?

  package init(account: String, dryRun: Bool? = nil, login: String? = nil) {
    self.account = account
    self.dryRun = dryRun
    self.login = login
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case account, login
    case dryRun = "dry_run"
  }
}

package struct AccountForgetAnswer: Codable, Sendable, Equatable {
  /// With `dry_run`: names the login that is there; nil: there is none.
  package var login: String?
  /// With `dry_run`: where that login is.
  package var host: String?
  /// Tokens of an earlier login that are still to be revoked at its server; nil: none.
  package var revocations: Int?

  package init(login: String? = nil, host: String? = nil, revocations: Int? = nil) {
    self.login = login
    self.host = host
    self.revocations = revocations
  }
}
