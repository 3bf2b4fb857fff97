package import HTTPTerms

/// Whether a 401 says that a newer token would do.
package enum BearerVerdict: Sendable, Equatable {
  /// A challenge of the token's scheme with `invalid_token` (RFC 6750 §3.1), or without an error; or one that wants another
  /// nonce in the proof beside the token (RFC 9449 §9).
  case refreshMayHelp
  /// Another scheme, or an error that no token of this grant cures (`insufficient_scope`, `invalid_request`).
  case refreshCannotHelp

  /// Judges the challenges of a 401 to a token that was sent with `scheme`, in lower case.
  package init(_ challenges: [Challenge], scheme: String = "bearer") {
    let errors = challenges.filter { $0.scheme == scheme }.map { $0.parameter("error") }
    if errors.contains("invalid_token") || scheme == "dpop" && errors.contains("use_dpop_nonce") {
      self = .refreshMayHelp
    } else if errors.isEmpty || errors.contains(where: { $0 != nil }) {
      self = .refreshCannotHelp
    } else {
      self = .refreshMayHelp
    }
  }
}
