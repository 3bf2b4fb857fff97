/// A refresh token that came when nobody waited for it any more, as it is sealed.
package struct LateToken: Sendable, Codable {
  package let refreshToken: StoredSecret
  /// The fingerprint of the refresh token that it was given for.
  package let sent: String
  package let received: Moment
  package let lifeSeconds: Double?
  package let binding: DefinitionBinding

  private enum CodingKeys: String, CodingKey {
    case sent, received, binding
    case refreshToken = "refresh_token"
    case lifeSeconds = "life_s"
  }
}

extension AccountRecord {
  /// Takes in a refresh token that came late: in place of the one that it was given for, or beside another that came
  /// first.
  mutating func take(_ late: LateToken) {
    guard let current = grant?.refreshToken?.secret, current != late.refreshToken.secret else { return }
    guard Fingerprint(of: current).description == late.sent else {
      grant?.otherRefreshToken = late.refreshToken
      return
    }
    grant?.take(late.refreshToken.secret, received: late.received, lifeSeconds: late.lifeSeconds)
    intent = nil
    if grant?.verdict?.isUnconfirmed == true { grant?.verdict = nil }
  }
}
