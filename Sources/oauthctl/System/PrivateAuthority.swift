import AgentWire
import HTTPTerms
import HelperFormats

/// The authority that an account names for its server (`ca_file`), for other programs that speak to that server. It counts
/// for the issuer's own host, on any port; other hosts that the token may go to can be anybody's. Where the file names
/// another issuer than the login is bound to, it counts for no host until somebody has agreed to that.
enum PrivateAuthority {
  /// Whether it counts for `authority` (`host` or `host:port`), the issuer's host.
  static func counts(for authority: String, of account: AccountSummary) -> Bool {
    account.boundHost == nil && isNamed(for: authority, by: account)
  }

  /// Whether the login believes it for `authority`, whatever the account's file names. Of a login whose host nobody knows it is
  /// believed everywhere, and nobody else.
  static func counts(for authority: String, of login: LoginAuthority) -> Bool {
    guard let own = login.host else { return true }
    return host(authority).map { $0 == host(own) } ?? false
  }

  /// Whether the account's file names it for `authority`, whatever the login is bound to.
  static func isNamed(for authority: String, by account: AccountSummary) -> Bool {
    host(authority).map { $0 == host(account.host) } ?? false
  }

  private static func host(_ authority: String) -> String? {
    try? Origin(scheme: .https, authority: authority[...]).host
  }
}
