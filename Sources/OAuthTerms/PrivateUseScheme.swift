/// Redirects by a scheme of one's own (RFC 8252 §7.1), as `com.example.app:/callback`: a domain name in reverse, which no
/// other program should have.
package enum PrivateUseScheme {
  /// Longest scheme, bytes: a file is named after it.
  private static let limitBytes = 100

  /// Why `text` is no such scheme; nil: it is one.
  package static func problem(in text: String) -> String? {
    let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard text.utf8.count <= limitBytes, labels.count > 1, labels.allSatisfy(isLabel),
      text.utf8.first.map(isLetter) == true
    else {
      return "a scheme is a domain name in reverse, like com.example.app: lower-case letters, digits, - and dots, "
        + "at most \(limitBytes)"
    }
    return nil
  }

  /// The scheme of a redirect by one; nil: `redirectURI` is another kind of address.
  package static func of(_ redirectURI: String) -> String? {
    let scheme = String(redirectURI.prefix { $0 != ":" })
    return problem(in: scheme) == nil && redirectURI.dropFirst(scheme.count).hasPrefix(":/") ? scheme : nil
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

  private static func isLabel(_ label: Substring.UTF8View.SubSequence) -> Bool {
    !label.isEmpty
      && label.allSatisfy {
        isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
      }
  }
}
