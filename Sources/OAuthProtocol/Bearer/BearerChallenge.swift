/// What a resource server says about a Bearer token (RFC 6750 §3). All texts are as sent: escape before showing.
package struct BearerChallenge: Sendable, Equatable {
  /// What to do about it.
  package enum Advice: Sendable, Equatable {
    /// `invalid_token`: a newer token may help.
    case refresh
    /// `insufficient_scope`: no refresh helps.
    case insufficientScope
    /// No token was seen.
    case sendToken
    /// `invalid_request` or an unknown error.
    case nothing
  }

  package let error: String?
  package let errorDescription: String?
  package let scope: [String]
  package let realm: String?
  /// RFC 9728 §5.1
  package let resourceMetadata: String?

  init(_ challenge: AuthenticationChallenge) {
    error = challenge.parameter("error")
    errorDescription = challenge.parameter("error_description")
    scope = ScopeList.parse(challenge.parameter("scope") ?? "")
    realm = challenge.parameter("realm")
    resourceMetadata = challenge.parameter("resource_metadata")
  }

  /// The Bearer challenge among all `WWW-Authenticate` values: the first with an error, else the first.
  package static func find(in fields: [String]) -> BearerChallenge? {
    let challenges = AuthenticationChallenge.parse(fields).filter { $0.scheme == "bearer" }.map(BearerChallenge.init)
    return challenges.first { $0.error != nil } ?? challenges.first
  }

  package var advice: Advice {
    switch error {
    case "invalid_token": .refresh
    case "insufficient_scope": .insufficientScope
    case nil: .sendToken
    default: .nothing
    }
  }
}

extension BearerChallenge: CustomStringConvertible {
  /// One sentence for people, safe to show.
  package var description: String {
    let said = errorDescription.map { " It says: \(Escaped.forTerminal($0))." } ?? ""
    return switch advice {
    case .refresh: "The resource refused the token (invalid_token)." + said
    case .insufficientScope:
      "The token lacks scope" + (scope.isEmpty ? "" : ": " + Escaped.forTerminal(scope.joined(separator: " "))) + "."
        + said
    case .sendToken: "The resource asks for a Bearer token." + said
    case .nothing: "The resource refused the request (\(Escaped.forTerminal(error ?? "", limit: 64)))." + said
    }
  }
}
