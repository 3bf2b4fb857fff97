/// Why an ID token is not believed.
package enum IDTokenProblem: Error, Sendable, Equatable {
  case tooLarge
  /// What cannot be read says nothing, whoever it is of.
  case malformed(String)
  /// A JWE: no client of ours has registered a key for one.
  case encrypted
  /// `alg` is `none`, or there is no signature. No client of ours has asked for that (OpenID Connect Core §2).
  case unsigned
  /// `shown` is escaped.
  case issuer(shown: String)
  /// The same where no metadata has confirmed the account's issuer, which may be a mere address then.
  case unconfirmedIssuer(shown: String)
  case audience
  /// It is for others too, and does not say whom it was given to.
  case authorizedPartyMissing
  case authorizedParty
  case expired
  case issuedInFuture
  case nonceMissing
  case nonce
  case accessTokenHash
  /// After a refresh: it is somebody else's than the one of the login.
  case subject
  /// Its person proved who they are longer ago than was asked for.
  case tooLongAgo(seconds: Int64)

  /// Whether the answer that it came with is not what this login asked for: somebody else's code, another server's or
  /// client's token, or a session older than allowed. Everything else only means that nobody knows who logged in.
  package var isOfAnotherLogin: Bool {
    switch self {
    case .issuer, .audience, .authorizedParty, .nonce, .subject, .tooLongAgo: true
    case .tooLarge, .malformed, .encrypted, .unsigned, .authorizedPartyMissing, .expired, .issuedInFuture,
      .nonceMissing, .accessTokenHash, .unconfirmedIssuer:
      false
    }
  }
}

extension IDTokenProblem {
  /// As ``description``, without what the server wrote.
  package var logLine: String {
    switch self {
    case .issuer, .unconfirmedIssuer: "is of another issuer"
    case .tooLarge, .malformed, .encrypted, .unsigned, .audience, .authorizedPartyMissing, .authorizedParty, .expired,
      .issuedInFuture, .nonceMissing, .nonce, .accessTokenHash, .subject, .tooLongAgo:
      description
    }
  }
}

extension IDTokenProblem: CustomStringConvertible {
  /// Goes on after "the ID token"; without secrets and safe to show.
  package var description: String {
    switch self {
    case .tooLarge: "is larger than \(IDToken.limitBytes) bytes"
    case .malformed(let reason): "cannot be read: \(reason)"
    case .encrypted: "is encrypted"
    case .unsigned: "is not signed"
    case .issuer(let shown), .unconfirmedIssuer(let shown): "is of another issuer: \(shown)"
    case .audience: "is for another client"
    case .authorizedPartyMissing: "is for several parties and does not say which one it was given to (azp)"
    case .authorizedParty: "was given to another client (azp)"
    case .expired: "has ended already"
    case .issuedInFuture: "is from the future"
    case .nonceMissing: "lacks the nonce of this login"
    case .nonce: "has the nonce of another login"
    case .accessTokenHash: "belongs to another access token (at_hash)"
    case .subject: "is of somebody else than the one who logged in (sub)"
    case .tooLongAgo(let seconds): "says that the person logged in at the server \(seconds) s ago"
    }
  }
}
