import OAuthTerms

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

extension AccountRecord {
  /// Whether there is a login that its server may still take for one.
  func loginMayLive(at now: Moment) -> Bool {
    guard let grant, grant.mayLive || isByTypedPassword else { return false }
    return loginEnd(at: now).map { $0 > now.bootSeconds } != false
  }

  /// Nobody but a person can have another token then.
  private var isByTypedPassword: Bool {
    grant?.kind.terms.need == .password && password == nil && grant?.needsLogin == false
  }

  /// Boot time at which the login ends by itself: one without a refresh token lives as long as its tokens. Nil: not known, as in
  /// another boot where the server has not told the time.
  func loginEnd(at now: Moment) -> Double? {
    guard let grant, grant.refreshToken == nil else { return nil }
    let ends = tokens.map { token in
      let isKnown =
        token.received.bootID == now.bootID || token.received.behindSeconds != nil && now.behindSeconds != nil
      return isKnown ? token.endBootSeconds(at: now) : nil
    }
    return ends.contains(nil) ? nil : ends.compactMap(\.self).max() ?? now.bootSeconds
  }
}
