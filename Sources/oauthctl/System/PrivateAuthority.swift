import AgentWire

/// The authority that an account names for its server (`ca_file`), for other programs that speak to that server. It counts
/// for the issuer's own host, on any port; other hosts that the token may go to can be anybody's.
enum PrivateAuthority {
  /// Whether it counts for `authority` (`host` or `host:port`), the issuer's host.
  static func counts(for authority: String, of account: AccountSummary) -> Bool {
    name(authority) == name(account.host)
  }

  /// Without the port, in lower case.
  private static func name(_ authority: String) -> String {
    let text = authority.lowercased()
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") { return String(text[...end]) }
    return String(text.prefix { $0 != ":" })
  }
}
