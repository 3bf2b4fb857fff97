import HTTPTerms

/// What a 403 says that the token's scope lacks (RFC 6750 §3.1).
extension HeaderDump {
  /// As many are read, and no longer ones, bytes: an API's words end in a command that a person is shown.
  private static let scopeLimit = 32
  private static let scopeBytes = 256

  /// The scopes of a challenge with `insufficient_scope`, each once; empty where it names none. Nil: that is not what the
  /// answer says, or it comes from another host than the request went to.
  package var neededScope: [String]? {
    guard status == 403, !hasLeftOrigin else { return nil }
    let challenge = challenges.first {
      ["bearer", "dpop"].contains($0.scheme) && $0.parameter("error") == "insufficient_scope"
    }
    guard let challenge else { return nil }
    var scopes: [String] = []
    for word in (challenge.parameter("scope") ?? "").split(separator: " ").map(String.init)
    where Self.isScope(word) && !scopes.contains(word) && scopes.count < Self.scopeLimit { scopes.append(word) }
    return scopes
  }

  /// A scope-token of RFC 6749 §3.3.
  private static func isScope(_ word: String) -> Bool {
    word.utf8.count <= scopeBytes
      && word.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }
}
