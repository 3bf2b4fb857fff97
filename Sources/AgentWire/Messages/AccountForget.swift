/// `account.forget`: deletes what the vault holds for an account. The server is told to delete a client that was registered
/// for it, and nothing of the login. What a logout before still has to tell stays.
package struct AccountForget: RequestParameters, Equatable {
  package typealias Answer = AccountForgetAnswer
  package static let method = Method.accountForget

  package var account: String
  /// Only tells what is there.
  package var dryRun: Bool?
  /// The login that a person was shown, as the answer to `dryRun` names it; empty: there was none. Another one is not
  /// deleted.
  package var login: String?

  /// The `client_hosts` that a person was shown: where the clients of other servers are to be deleted, nothing is. Nil: any.
  package var clientHosts: [String]?
  /// The `secrets` that a person was shown: where others are kept, nothing is deleted. Nil: any.
  package var secrets: [String]?
  /// The `borrowers` that a person was shown: where others get their tokens for those of this account, nothing is deleted.
  /// Nil: any.
  package var borrowers: [String]?

  package init(account: String, dryRun: Bool? = nil, login: String? = nil) {
    self.account = account
    self.dryRun = dryRun
    self.login = login
  }

  /// Nothing but what a person was shown: `kept` is the answer to `dryRun`, nil where nothing was there.
  package init(account: String, asShown kept: AccountForgetAnswer?) {
    self.account = account
    login = kept?.login ?? ""
    clientHosts = kept?.clientHosts ?? []
    secrets = kept?.secrets ?? []
    borrowers = kept?.borrowers ?? []
  }

  /// Whether `kept`, the answer to `dryRun`, says what a person was shown.
  package func isAbout(_ kept: AccountForgetAnswer) -> Bool {
    if let login, login != kept.login ?? "" { return false }
    if let clientHosts, clientHosts != kept.clientHosts ?? [] { return false }
    if let borrowers, borrowers != kept.borrowers ?? [] { return false }
    return secrets.map { $0 == kept.secrets ?? [] } ?? true
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case account, login, secrets, borrowers
    case dryRun = "dry_run"
    case clientHosts = "client_hosts"
  }
}

package struct AccountForgetAnswer: Codable, Sendable, Equatable {
  /// With `dry_run`: names the login that is there; nil: there is none.
  package var login: String?
  /// With `dry_run`: where that login is; nil: nowhere any more, as far as known, or nobody logs in.
  package var host: String?
  /// Tokens of an earlier login that are still to be revoked at its server; nil: none.
  package var revocations: Int?
  /// With `dry_run`: where clients were registered for it that will be deleted there (RFC 7592), sorted; nil: nowhere.
  package var clientHosts: [String]?
  /// With `dry_run`: what is kept in the vault beside the login: ``SecretKind``s, and a private key as
  /// ``AccountCheckAnswer/privateKey``; nil: nothing.
  package var secrets: [String]?
  /// With `dry_run`: more is kept than what its server has still to be told; nil: nothing is.
  package var kept: Bool?
  /// With `dry_run`: accounts that get their tokens for those of this one, sorted; nil: none does.
  package var borrowers: [String]?
  /// What became of that client; nil: there was none.
  package var client: ClientDeletion?
  /// Why it is not deleted, or not yet.
  package var clientReason: String?

  package enum ClientDeletion: String, Codable, Sendable {
    case deleted
    /// The server did not take it yet: the agent keeps trying.
    case pending
    case refused
  }

  package init(login: String? = nil, host: String? = nil, revocations: Int? = nil) {
    self.login = login
    self.host = host
    self.revocations = revocations
  }

  package enum CodingKeys: String, CodingKey {
    case login, host, revocations, client, borrowers, kept, secrets
    case clientHosts = "client_hosts"
    case clientReason = "client_reason"
  }
}
