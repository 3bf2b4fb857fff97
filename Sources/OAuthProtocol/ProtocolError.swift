/// What makes a value of this module impossible to build. Texts are escaped and never hold a secret.
package enum ProtocolError: Error, Sendable, Equatable {
  /// `shown` is the URL, escaped and cut.
  case url(shown: String, URLProblem)
  /// An entry of an account's `hosts`.
  case host(shown: String, URLProblem)
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

/// Why a URL was refused.
package enum URLProblem: String, Sendable, Equatable {
  case empty = "it is empty"
  case tooLong = "it is too long"
  case forbiddenCharacter = "it holds a blank, a control character, a non-ASCII character or one that a URL must escape"
  case badEscape = "it holds a % that is not followed by two hexadecimal digits"
  case scheme = "it does not begin with https:// (or http:// on loopback)"
  case plainHTTP = "http:// is accepted on 127.0.0.0/8, [::1] and localhost only; use https://"
  case userInfo = "it holds a user name or password before the host"
  case host = "its host is not a plain host name or address"
  case port = "its port is not a number from 1 to 65535"
  case fragment = "it holds a fragment (#…)"
  case dotSegment = "its path holds a . or .. segment"
  case query = "it holds a query (?…)"
  case path = "it holds a path; only a scheme, a host and a port belong here"
}

extension ProtocolError: CustomStringConvertible {
  /// One sentence: what is wrong, and where it can be seen, what to do.
  package var description: String {
    switch self {
    case .url(let shown, let problem): "The URL \"\(shown)\" is refused: \(problem.rawValue)."
    case .host(let shown, let problem): "The host entry \"\(shown)\" is refused: \(problem.rawValue)."
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
