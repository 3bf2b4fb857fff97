import AgentWire

/// When a token is refreshed without anybody asking (docs/tokens.md). Pure: times come in, a time comes out.
package enum RefreshPlan {
  /// Share of a token's life after which it is refreshed: a quarter is left for a server in trouble.
  package static let share = 0.75
  /// The moment is spread by this share of a life either way, so that accounts that logged in together do not refresh
  /// together.
  package static let spread = 0.10
  /// No plan refreshes a token or a grant more often than in so many seconds, however short a life a server tells: a
  /// server that says "one second" by mistake is not flooded.
  package static let leastSeconds = 5.0
  /// Seconds after the last request in which a token counts as in use: a day, since what
  /// runs every night must not wait for a refresh. Two lives count as well.
  package static let inUseSeconds = 86_400.0

  /// Seconds a token must still be valid when a request names no `min_validity_s`: a third of its life, 60 at most.
  package static func defaultMinimumValidity(lifeSeconds: Double?) -> Double {
    lifeSeconds.map { min(60, $0 / 3) } ?? 0
  }

  /// Whoever asks with `best_effort` makes no refresh while more than this share of the token's life is left, however long
  /// it is to last: a tool that asks before each of its steps would else use up every token at once.
  package static let bestEffortShare = 0.5

  /// A request may ask for this share of a token's life at any time: a token with less left is always renewed for it.
  package static let attainableShare = 0.9

  /// Whole seconds.
  package static func attainableValidity(lifeSeconds: Double) -> Int {
    Int(max(0, min(lifeSeconds * attainableShare, Double(TokenLine.greatestValiditySeconds))))
  }

  /// Seconds after `received` at which a token with this life is refreshed. `random` is in 0..<1.
  package static func refreshAge(lifeSeconds: Double, random: Double) -> Double {
    max(leastSeconds, lifeSeconds * (share + spread * (2 * random - 1)))
  }

  /// Whether the token counts as used: `sinceAsked` seconds ago somebody asked, nil: nobody did.
  package static func isInUse(sinceAsked: Double?, lifeSeconds: Double) -> Bool {
    guard let sinceAsked else { return false }
    return sinceAsked <= max(inUseSeconds, 2 * lifeSeconds)
  }

  /// Seconds after the refresh token was received at which an idle grant is used once, so that it does not lapse: half
  /// of its known life; nil when the server named none.
  package static func keepAliveAge(refreshTokenLifeSeconds: Double?) -> Double? {
    refreshTokenLifeSeconds.flatMap { $0 > 0 ? max(leastSeconds, $0 / 2) : nil }
  }
}
