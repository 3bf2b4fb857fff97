import OAuthProtocol

/// Who has logged in, after a refresh (OpenID Connect Core 1.0 §12.2).
extension GrantRecord {
  /// Takes the ID token of a refresh that gave `granted`, where there is one to be believed. The tokens beside it stay in
  /// any case: the server gave them for this grant's refresh token, and a login is not lost over a claim.
  mutating func takeIdentity(of granted: TokenResponse, _ call: TokenCall) {
    guard let sent = granted.idToken else {
      // One for other scopes may leave it out.
      if call.key == .standard { identity?.isLast = true }
      return
    }
    var expectation = IDTokenExpectation(
      issuer: identity?.issuer ?? binding.issuer, isIssuerConfirmed: identity != nil, clientID: binding.clientID,
      nonce: .any, accessToken: granted.accessToken, subject: identity?.subject, hiding: granted.secrets)
    if let before = identity.flatMap({ try? IDToken($0.idToken.secret) }) { expectation.nonce = before.nonceBefore }
    do throws(IDTokenProblem) {
      let token = try IDToken(sent)
      try expectation.check(token, now: Int64(call.started.serverSeconds))
      identity = IdentityRecord(token, hiding: granted.secrets)
    } catch {
      identity?.concern = "the ID token of the last refresh \(error)"
      identity?.isLast = true
      if error.isOfAnotherLogin { identity?.isContested = true }
    }
  }
}
