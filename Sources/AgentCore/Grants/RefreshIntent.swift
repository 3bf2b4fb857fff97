import AgentWire

/// Says, durably and before it happens, that a refresh token is being sent.
package struct RefreshIntent: Sendable, Equatable, Codable {
  /// Of the refresh token.
  package var fingerprint: String
  /// Counts the sendings of this refresh token, from 1.
  package var attempt: Int
  /// When the last of them was about to begin.
  package var at: Moment
  /// When the first was; nil: there was one alone.
  package var first: Moment?
  package var endpoint: String

  package init(fingerprint: String, attempt: Int, at: Moment, endpoint: String) {
    self.fingerprint = fingerprint
    self.attempt = attempt
    self.at = at
    self.endpoint = endpoint
  }
}
