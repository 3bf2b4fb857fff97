/// What a token was asked for, beyond the account: two requests with equal keys may share a token (RFC 8707 §2).
package struct TokenKey: Hashable, Codable, Sendable {
  /// Sorted, without repeats; empty: the account's own scope.
  package let scope: [String]
  package let resource: [String]
  package let audience: [String]

  package init(scope: [String] = [], resource: [String] = [], audience: [String] = []) {
    self.scope = Array(Set(scope)).sorted()
    self.resource = Array(Set(resource)).sorted()
    self.audience = Array(Set(audience)).sorted()
  }

  /// The token of the account as configured.
  package static let standard = TokenKey()

  /// Keys an account may have at most, which is more than one person's tools ask for; the least used goes first.
  package static let limit = 16
}
