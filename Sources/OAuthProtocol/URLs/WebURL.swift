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

  /// Throws ``ProtocolError/url(shown:_:)``.
  package init(_ text: String, limitBytes: Int = WebURL.limitBytes) throws(ProtocolError) {
    func refuse(_ problem: URLProblem) -> ProtocolError { .url(shown: Escaped.forTerminal(text), problem) }
    guard !text.isEmpty else { throw refuse(.empty) }
    guard text.utf8.count <= limitBytes else { throw refuse(.tooLong) }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw refuse(.forbiddenCharacter) }
    guard !text.utf8.contains(UInt8(ascii: "#")) else { throw refuse(.fragment) }
    guard let (written, rest) = splitScheme(text), let scheme = Origin.Scheme(rawValue: written) else {
      throw refuse(.scheme)
    }
    let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let tail = rest[authorityEnd...]
    let queryStart = tail.firstIndex(of: "?")
    let path = tail[..<(queryStart ?? tail.endIndex)]
    let query = queryStart.map { tail[tail.index(after: $0)...] }
    do {
      let parts = try HostAndPort(rest[..<authorityEnd])
      origin = Origin(scheme: scheme, host: parts.host, port: parts.port)
      writtenPort = parts.port
    } catch {
      throw refuse(error.problem)
    }
    guard scheme == .https || origin.isLoopback else { throw refuse(.plainHTTP) }
    if let problem = Self.problem(in: path.utf8) ?? query.flatMap({ Self.problem(in: $0.utf8) }) {
      throw refuse(problem)
    }
    guard !Self.hasDotSegment(path) else { throw refuse(.dotSegment) }
    self.text = text
    self.path = String(path)
    self.query = query.map(String.init)
  }

  package var description: String { text }

  /// The URL with `parameters` appended to its query; its own query is kept (RFC 6749 §3.1).
  ///
  /// Throws ``ProtocolError/duplicateParameter(_:)`` when the URL's own query holds one of their names already.
  package func appendingQuery(_ parameters: FormParameters) throws(ProtocolError) -> String {
    guard let query else { return text + "?" + parameters.encodedQuery() }
    let own = try FormFields(decoding: query.utf8)
    for name in parameters.names where own.contains(name) { throw .duplicateParameter(name) }
    return text + (query.isEmpty || query.hasSuffix("&") ? "" : "&") + parameters.encodedQuery()
  }

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
