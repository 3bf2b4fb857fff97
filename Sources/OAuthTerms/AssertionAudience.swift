/// Whom an assertion is for, by which a client proves itself (RFC 7523 §3): the one list, for the flag `--assertion-audience`
/// and the key `assertion_audience`.
package enum AssertionAudience: String, Sendable, Codable, TypedName {
  /// The server's name: what no other server has (RFC 7523bis).
  case issuer
  /// What older servers want, RFC 7523 §3 having named it.
  case tokenEndpoint = "token_endpoint"
  /// The endpoint that is called: some servers compare the address at each of theirs.
  case endpoint

  package var typedNames: [String] { [] }
}
