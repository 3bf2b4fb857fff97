extension GrantRecord {
  /// Whether its server may still take it for a login: not where it has refused it, nor where nobody logged in and each token
  /// is asked for by itself.
  var mayLive: Bool {
    if let verdict, verdict.kind == .loginRequired, verdict.isUnconfirmed != true { return false }
    return refreshToken != nil || !kind.isUnattended
  }
}
