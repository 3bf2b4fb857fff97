import OAuthProtocol

/// Who has logged in, as the server's last ID token says that was believed.
package struct IdentityRecord: Sendable, Equatable, Codable {
  package var idToken: StoredSecret
  package var issuer: String
  /// `sub`: the one name that stays, and is nobody else's at the same issuer (OpenID Connect Core 1.0 §5.7).
  package var subject: String
  /// What people know themselves by, fit to be shown; nil: the server does not say.
  package var user: String?
  /// `sub`, fit to be shown. Records from before this was always kept have it where `user` is not known.
  package var shownSubject: String?
  /// Unix seconds by the server's clock.
  package var expires: Int64
  /// Why the ID token of the last refresh was not taken, fit to be shown; nil: it was, or none came.
  package var concern: String?
  /// The last refresh brought none that was taken: the next one would not, either.
  package var isLast: Bool?
  /// The last refresh brought an ID token of somebody else, or for another client: nobody knows whose the tokens are now.
  package var isContested: Bool?

  init(_ token: IDToken, hiding secrets: RequestSecrets) {
    idToken = StoredSecret(token.token)
    issuer = token.issuer
    subject = token.subject
    user = token.shownName(hiding: secrets)
    shownSubject = token.shownSubject(hiding: secrets)
    expires = token.expires
  }

  /// In words, for lists.
  package var who: String? { user ?? shownSubject }

  /// For a person who tells two of them apart: `sub` first, which nobody chooses for himself, then the name.
  var whoBySubject: String {
    let subject = shownSubject ?? Escaped.forTerminal(subject, limit: 255)
    guard let user, user != subject else { return subject }
    return "id \(subject), \(user)"
  }

  /// As ``IDToken/isOf(_:)``.
  func isOf(_ expected: String) -> Bool { (try? IDToken(idToken.secret))?.isOf(expected) ?? false }

  package var endUser: EndUser { EndUser(issuer: issuer, subject: subject, who: who) }

  /// Whose the tokens are now; nil: nobody knows.
  var presentUser: EndUser? { isContested == true ? nil : endUser }

  /// Seconds that the ID token is valid for, by the server's clock where that is known.
  package func remaining(at now: Moment) -> Double {
    Double(expires) - now.serverSeconds
  }

  private enum CodingKeys: String, CodingKey {
    case user, concern
    case idToken = "id_token"
    case issuer = "iss"
    case subject = "sub"
    case shownSubject = "shown_sub"
    case expires = "exp"
    case isLast = "is_last"
    case isContested = "is_contested"
  }
}

extension Moment {
  /// Unix seconds by the clock of the account's server, where that is known; else by this machine's.
  var serverSeconds: Double { wallSeconds + (behindSeconds ?? 0) }
}
