/// How one more host gets an account's tokens. `hosts` of an account file replaces the issuer's own host, which is the
/// default, so the whole line is told, with those that are there already.
package struct HostsLine: Sendable, Equatable {
  /// Hosts that are written out: more fit on no line, and stand in a list of the file that anybody can add to.
  package static let most = 8

  package var account: String
  package var file: String
  /// Where the account's tokens may go by its file, as origins.
  package var present: [String]
  package var isLoggedIn: Bool

  package init(account: String, file: String, present: [String], isLoggedIn: Bool) {
    self.account = account
    self.file = file
    self.present = present
    self.isLoggedIn = isLoggedIn
  }

  /// With `origin` added.
  package func step(adding origin: String) -> NextStep {
    let hosts = present + [origin]
    let line =
      hosts.count > Self.most
      ? "add \"\(origin)\" to `hosts` in \(file)"
      : "have  hosts = [\(hosts.map { "\"\($0)\"" }.joined(separator: ", "))]  in \(file)"
    // Whoever gets a token may do with it what its owner may.
    return .advice(
      "only if \(account)'s tokens are meant for that host: \(line), "
        + "then: oauthctl \(isLoggedIn ? "account accept" : "login") \(account)")
  }
}
