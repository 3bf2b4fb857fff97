import Sealing

extension GrantRecord {
  /// The ID token of the login, and the seconds it is good for; nil: none is kept.
  func idToken(at now: Moment) -> (token: Secret, seconds: Double)? {
    identity.map { ($0.idToken.secret, $0.remaining(at: now)) }
  }
}
