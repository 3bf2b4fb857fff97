/// Why a URL, or a host, is refused.
package enum URLProblem: String, Error, Sendable, Equatable, CustomStringConvertible {
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

  package var description: String { rawValue }
}
