import AgentWire

/// The authority that an account names for its server (`ca_file`), for other programs that speak to that server. It counts
/// for the issuer's own host, on any port; other hosts that the token may go to can be anybody's.
enum PrivateAuthority {
  /// The file, where the account has one and `authority` (`host` or `host:port`) is its issuer's host.
  static func file(of account: AccountSummary, for authority: String) -> String? {
    guard let file = account.certificateAuthorityFile, name(authority) == name(account.host) else { return nil }
    return file
  }

  /// Without the port, in lower case.
  private static func name(_ authority: String) -> String {
    let text = authority.lowercased()
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") { return String(text[...end]) }
    return String(text.prefix { $0 != ":" })
  }
}
