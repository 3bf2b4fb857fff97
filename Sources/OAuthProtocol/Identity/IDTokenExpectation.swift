import HTTPTerms
package import Sealing

/// What an ID token has to say to be believed (OpenID Connect Core 1.0 §3.1.3.7, and §12.2 after a refresh).
package struct IDTokenExpectation: Sendable {
  /// Clocks of one server's machines differ: as many seconds either way are forgiven.
  static let toleranceSeconds: Int64 = 300

  package enum Nonce: Sendable {
    /// None was sent, or nobody knows it any more.
    case any
    /// That of the authorization request, which the token has to hold.
    case required(String)
    /// A refresh: a token may leave it out, and may hold no other than the one before (§12.2).
    case same(as: String?)
  }

  package var issuer: String
  /// Whether the issuer's own metadata has its name. Where an account's file names the endpoints instead nobody has
  /// confirmed it, as with "organizations" of Microsoft Entra: then another issuer of the same origin will do.
  package var isIssuerConfirmed: Bool
  package var clientID: String
  package var nonce: Nonce
  /// That came with it.
  package var accessToken: Secret
  /// Of the login before a refresh; nil: anybody.
  package var subject: String?
  /// `max_age` of the authorization request, seconds.
  package var maximumAgeSeconds: Int?
  /// What its text is freed of before it is shown.
  package var secrets: RequestSecrets

  package init(
    issuer: String, isIssuerConfirmed: Bool, clientID: String, nonce: Nonce, accessToken: Secret,
    subject: String? = nil, maximumAgeSeconds: Int? = nil, hiding secrets: RequestSecrets = RequestSecrets([])
  ) {
    self.secrets = secrets
    self.issuer = issuer
    self.isIssuerConfirmed = isIssuerConfirmed
    self.clientID = clientID
    self.nonce = nonce
    self.accessToken = accessToken
    self.subject = subject
    self.maximumAgeSeconds = maximumAgeSeconds
  }

  /// `now` is Unix seconds by the server's clock. What shows another login is looked at first.
  package func check(_ token: IDToken, now: Int64) throws(IDTokenProblem) {
    guard isOurs(token.issuer) else {
      let shown = Escaped.forTerminal(secrets.cut(from: token.issuer), limit: 200)
      throw isIssuerConfirmed ? .issuer(shown: shown) : .unconfirmedIssuer(shown: shown)
    }
    guard token.audience.contains(where: { $0.utf8.elementsEqual(clientID.utf8) }) else { throw .audience }
    if let party = token.authorizedParty {
      guard party.utf8.elementsEqual(clientID.utf8) else { throw .authorizedParty }
    } else if token.audience.count > 1 {
      throw .authorizedPartyMissing
    }
    if let subject, !token.subject.utf8.elementsEqual(subject.utf8) { throw .subject }
    switch (nonce, token.nonce) {
    case (.any, _), (.same, nil), (.same(as: nil), _): break
    case (.required, nil): throw .nonceMissing
    case (.required(let sent), let found?), (.same(as: let sent?), let found?):
      guard constantTimeEquals(Array(found.utf8), Array(sent.utf8)) else { throw .nonce }
    }
    if let maximumAgeSeconds, let at = token.authenticatedAt {
      let age = now - at
      guard age - Self.toleranceSeconds <= Int64(maximumAgeSeconds) else { throw .tooLongAgo(seconds: age) }
    }
    guard token.expires > now - Self.toleranceSeconds else { throw .expired }
    guard token.issuedAt <= now + Self.toleranceSeconds else { throw .issuedInFuture }
    // §3.1.3.6: the left half of the digest that the signature uses. Others than SHA-256 are seldom, and not computed.
    if let hash = token.accessTokenHash, token.algorithm.hasSuffix("256") {
      guard hash == Base64URL.encode(Digest.sha256(accessToken).prefix(16)) else { throw .accessTokenHash }
    }
  }

  private func isOurs(_ found: String) -> Bool {
    // Google may leave the scheme out (§15.6.2).
    if found.utf8.elementsEqual(issuer.utf8) || "https://" + found == issuer && issuer == "https://accounts.google.com"
    {
      return true
    }
    guard !isIssuerConfirmed, let one = try? WebURL(found), let other = try? WebURL(issuer) else { return false }
    return one.origin == other.origin
  }
}
