package import HTTPTerms

/// What makes a value of this module impossible to build. Texts are escaped and never hold a secret.
package enum ProtocolError: Error, Sendable, Equatable {
  /// `shown` is the URL, escaped and cut.
  case url(shown: String, URLProblem)
  case issuer(shown: String, reason: String)
  case redirectURI(shown: String, reason: String)
  /// An extra parameter that would override one the protocol sets.
  case reservedParameter(String)
  /// A parameter that would be, or was, sent twice (RFC 6749 §3.1, §3.2).
  case duplicateParameter(String)
  case parameter(name: String, reason: String)
  case malformedForm(String)
  case clientAuthentication(String)
  /// The caller lent fewer random bytes than the value needs.
  case tooFewRandomBytes(needed: Int)
}

extension ProtocolError: CustomStringConvertible {
  /// One sentence: what is wrong, and where it can be seen, what to do.
  package var description: String {
    switch self {
    case .url(let shown, let problem): "The URL \"\(shown)\" is refused: \(problem.rawValue)."
    case .issuer(let shown, let reason): "The issuer \"\(shown)\" is refused: \(reason)."
    case .redirectURI(let shown, let reason): "The redirect URI \"\(shown)\" is refused: \(reason)."
    case .reservedParameter(let name):
      "The parameter \"\(name)\" is set by the protocol; take it out of the extra ones."
    case .duplicateParameter(let name): "The parameter \"\(name)\" appears twice; it must appear once."
    case .parameter(let name, let reason): "The parameter \"\(name)\" is refused: \(reason)."
    case .malformedForm(let reason): "The form data is malformed: \(reason)."
    case .clientAuthentication(let reason): "The client cannot authenticate: \(reason)."
    case .tooFewRandomBytes(let needed): "At least \(needed) random bytes are needed."
    }
  }
}
