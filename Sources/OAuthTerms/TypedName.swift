/// A list from which a person types a name.
package protocol TypedName: RawRepresentable<String>, CaseIterable {
  /// What is taken beside the name itself.
  var typedNames: [String] { get }
}

extension TypedName {
  /// Hyphens count as underscores.
  package init?(typed: String) {
    func plain(_ text: String) -> [UInt8] { text.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 } }
    let wanted = plain(typed)
    guard let found = Self.allCases.first(where: { ([$0.rawValue] + $0.typedNames).contains { plain($0) == wanted } })
    else { return nil }
    self = found
  }

  package static var names: [String] { allCases.map(\.rawValue) }

  /// `a, b or c`
  package static var choice: String {
    names.dropLast().joined(separator: ", ") + (names.count > 1 ? " or " : "") + (names.last ?? "")
  }
}

extension GrantKind: TypedName {
  package var typedNames: [String] { terms.otherNames + [terms.type].compactMap(\.self) }
}

extension ClientAuthenticationMethod: TypedName {
  package var typedNames: [String] { otherNames }
}
