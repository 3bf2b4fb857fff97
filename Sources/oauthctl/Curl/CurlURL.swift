/// A URL operand, read more strictly than curl reads it: whatever two parsers could understand differently is refused,
/// so that the host that was checked is the host that gets the token.
struct CurlURL: Sendable, Equatable {
  /// `https`, or `http` on loopback.
  var scheme: String
  /// Host and port as written, in lower case.
  var authority: String
  /// Whether curl makes several transfers of it (`{a,b}`, `[1-9]`).
  var isGlob: Bool

  /// As written, where it is sure to mean the same to two readers; else empty.
  private(set) var path = ""

  var origin: String { "\(scheme)://\(authority)/" }

  /// What the agent is told: the path tells accounts of one host apart. The query is none of its business.
  var place: String { "\(scheme)://\(authority)\(path.isEmpty ? "/" : path)" }

  var isLoopback: Bool { LoopbackHost.matches(authority: authority) }

  enum Refusal: Error, Equatable {
    case scheme(String)
    case plainText(String)
    case userInfo
    case host(String)
  }

  /// Reads an operand; `globbing` is false after `--globoff`.
  ///
  /// - Throws: `Refusal` for what is not surely a host that may get a token.
  init(_ text: String, globbing: Bool) throws(Refusal) {
    var rest = Substring(text)
    if let mark = text.range(ofText: "://") {
      scheme = text[..<mark.lowerBound].lowercased()
      rest = text[mark.upperBound...]
    } else {
      // curl is told --proto-default https, so that this guess and its own agree.
      scheme = "https"
    }
    guard scheme == "https" || scheme == "http" else { throw .scheme(scheme) }
    let authorityText = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    if authorityText.contains("@") { throw .userInfo }
    authority = authorityText.lowercased()
    guard Self.isPlain(authority) else { throw .host(String(authorityText)) }
    let path = rest[authorityText.endIndex...]
    guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }), !text.hasPrefix(" ") else {
      throw .host(String(authorityText))
    }
    isGlob = globbing && path.contains { $0 == "{" || $0 == "[" }
    self.path = Self.plain(path.prefix { $0 != "?" && $0 != "#" })
    if scheme == "http", !isLoopback { throw .plainText(authority) }
  }

  /// Letters, digits and `-._~` between slashes; empty for a path with anything else, or with dot segments.
  private static func plain(_ path: Substring) -> String {
    let isPlain = path.utf8.allSatisfy { byte in
      isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || "/-._~".utf8.contains(byte)
    }
    let hasDots = path.split(separator: "/").contains { $0.allSatisfy { $0 == "." } }
    return isPlain && !hasDots && path.utf8.count <= 1_024 ? String(path) : ""
  }

  /// A name or address with or without a port, nothing else; `authority` is in lower case.
  private static func isPlain(_ authority: String) -> Bool {
    let isHostByte: (UInt8) -> Bool
    let host: Substring
    let rest: Substring
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return false }
      host = authority[..<end].dropFirst()
      rest = authority[authority.index(after: end)...]
      guard host.utf8.count(where: { $0 == UInt8(ascii: ":") }) >= 2 else { return false }
      isHostByte = { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) || ":.".utf8.contains($0) }
    } else {
      host = authority.prefix { $0 != ":" }
      rest = authority[host.endIndex...]
      isHostByte = { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || ".-_".utf8.contains($0) }
    }
    guard !host.isEmpty, host.utf8.allSatisfy(isHostByte) else { return false }
    return rest.isEmpty || rest.hasPrefix(":") && rest.utf8.count <= 6 && rest.utf8.dropFirst().allSatisfy(isDigit)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
