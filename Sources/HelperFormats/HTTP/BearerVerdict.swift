package import HTTPTerms

/// Whether a 401 says that a newer token would do.
package enum BearerVerdict: Sendable, Equatable {
  /// A Bearer challenge with `invalid_token` (RFC 6750 §3.1), or without an error.
  case refreshMayHelp
  /// Another scheme, or an error that no token of this grant cures (`insufficient_scope`, `invalid_request`).
  case refreshCannotHelp

  /// Judges the challenges of a 401.
  package init(_ challenges: [Challenge]) {
    let errors = challenges.filter { $0.scheme == "bearer" }.map { $0.parameter("error") }
    if errors.contains("invalid_token") {
      self = .refreshMayHelp
    } else if errors.isEmpty || errors.contains(where: { $0 != nil }) {
      self = .refreshCannotHelp
    } else {
      self = .refreshMayHelp
    }
  }
}
