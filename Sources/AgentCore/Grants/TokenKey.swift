/// What a token was asked for, beyond the account: two requests with equal keys may share a token (RFC 8707 §2). Words are
/// told apart by their bytes, as a server tells them apart: Swift takes canonically equivalent spellings for equal.
package struct TokenKey: Codable, Sendable {
  /// Sorted, without repeats; empty: the account's own scope.
  package let scope: [String]
  package let resource: [String]
  package let audience: [String]

  package init(scope: [String] = [], resource: [String] = [], audience: [String] = []) {
    self.scope = Self.ordered(scope)
    self.resource = Self.ordered(resource)
    self.audience = Self.ordered(audience)
  }

  /// The token of the account as configured.
  package static let standard = TokenKey()

  /// Keys an account may have at most, which is more than one person's tools ask for; the least used goes first.
  package static let limit = 16

  private static func ordered(_ words: [String]) -> [String] {
    guard words.count > 1 else { return words }
    return Set(words.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
      .map { String(decoding: $0, as: UTF8.self) }
  }
}

extension TokenKey: Hashable {
  package static func == (left: TokenKey, right: TokenKey) -> Bool {
    isSame(left.scope, right.scope) && isSame(left.resource, right.resource) && isSame(left.audience, right.audience)
  }

  private static func isSame(_ one: [String], _ other: [String]) -> Bool {
    one.elementsEqual(other) { $0.utf8.elementsEqual($1.utf8) }
  }

  package func hash(into hasher: inout Hasher) {
    for list in [scope, resource, audience] {
      hasher.combine(list.count)
      for word in list { hasher.combine(Array(word.utf8)) }
    }
  }
}
