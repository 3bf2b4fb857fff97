extension GrantRecord {
  /// Whether a login is needed, as far as anybody knows: nothing that is sent of it can lose more.
  var needsLogin: Bool { verdict?.kind == .loginRequired }

  /// Whether its server may still take it for a login: not where it has refused it, nor where nobody logged in and each token
  /// is asked for by itself.
  var mayLive: Bool {
    if let verdict, verdict.kind == .loginRequired, verdict.isUnconfirmed != true { return false }
    return refreshToken != nil || !kind.isUnattended
  }
}
