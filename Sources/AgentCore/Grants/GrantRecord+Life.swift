import OAuthTerms

extension GrantRecord {
  /// Whether a login is needed, as far as anybody knows: nothing that is sent of it can lose more.
  var needsLogin: Bool { verdict?.kind == .loginRequired }
}

extension AccountRecord {
  /// Whether there is a login that its server may still take for one: not where it has refused it, nor where the agent can have
  /// another token by itself.
  func loginMayLive(at now: Moment) -> Bool {
    guard let grant, !grant.needsLogin || grant.verdict?.isUnconfirmed == true else { return false }
    let isOfAPerson = !grant.kind.isUnattended || grant.kind.terms.need == .password && password == nil
    guard grant.refreshToken != nil || isOfAPerson else { return false }
    return loginEnd(at: now).map { $0 > now.bootSeconds } != false
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
