/// An absolute URL of a server: https, or http on loopback; bounded; without user info, fragment or dot segments; only
/// the characters of RFC 3986. Nothing is repaired: what was compared is what is sent.
package struct WebURL: Sendable, Hashable, CustomStringConvertible {
  /// Longest accepted URL: 4 KiB.
  package static let limitBytes = 4_096

  /// The URL as it was written.
  package let text: String
  package let origin: Origin
  /// The port when it is written in the URL.
  package let writtenPort: Int?
  /// As written; empty or beginning with `/`.
  package let path: String
  /// As written, without the `?`; nil when there is none.
  package let query: String?

  package init(_ text: String, limitBytes: Int = WebURL.limitBytes) throws(URLProblem) {
    guard !text.isEmpty else { throw .empty }
    guard text.utf8.count <= limitBytes else { throw .tooLong }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .forbiddenCharacter }
    guard !text.utf8.contains(UInt8(ascii: "#")) else { throw .fragment }
    let parts = try URLParts(text)
    if let problem = Self.problem(in: parts.path.utf8) ?? parts.query.flatMap({ Self.problem(in: $0.utf8) }) {
      throw problem
    }
    guard !Self.hasDotSegment(parts.path) else { throw .dotSegment }
    self.text = text
    origin = parts.origin
    writtenPort = parts.writtenPort
    path = String(parts.path)
    query = parts.query.map(String.init)
  }

  package var description: String { text }

  /// pchar / "/" / "?" of RFC 3986 §3.3 and §3.4.
  private static func problem(in part: Substring.UTF8View) -> URLProblem? {
    var escapeDigits = 0
    for byte in part {
      if escapeDigits > 0 {
        guard isHexDigit(byte) else { return .badEscape }
        escapeDigits -= 1
      } else if byte == UInt8(ascii: "%") {
        escapeDigits = 2
      } else if forbidden.contains(byte) {
        return .forbiddenCharacter
      }
    }
    return escapeDigits == 0 ? nil : .badEscape
  }

  private static let forbidden = Array("\"<>[\\]^`{|}".utf8)

  private static let dotSegments: [Substring] = [".", "..", "%2e", ".%2e", "%2e.", "%2e%2e"]

  private static func hasDotSegment(_ path: Substring) -> Bool {
    path.lowercased().split(separator: "/").contains { dotSegments.contains($0) }
  }
}
