import Sealing

/// ID tokens made by hand; nothing looks at their signatures.
enum IDTokenText {
  static let issuer = "https://id.example"
  static let now: Int64 = 1_700_000_000

  /// One of ``issuer`` for the client `dev`, of `alice`, good at ``now``; `claims` come in the place of these or beside
  /// them, and nil takes one out.
  static func make(_ claims: [String: String?] = [:], header: String = #"{"alg":"RS256"}"#) -> String {
    var all: [String: String] = [
      "iss": "\"\(issuer)\"", "aud": "\"dev\"", "sub": "\"alice\"", "exp": "\(now + 600)", "iat": "\(now)",
    ]
    for (name, value) in claims { all[name] = value }
    return make(
      raw: "{" + all.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}",
      header: header)
  }

  static func make(raw claims: String, header: String = #"{"alg":"RS256"}"#, signature: String = "c2ln") -> String {
    [Base64URL.encode(Array(header.utf8)), Base64URL.encode(Array(claims.utf8)), signature].joined(separator: ".")
  }
}
