/// A URL cut at the marks of RFC 3986 §3. Of its parts only scheme and authority are judged here.
struct URLParts {
  let origin: Origin
  let writtenPort: Int?
  /// As written; empty or beginning with `/`.
  let path: Substring
  /// As written, without the `?`; nil when there is none.
  let query: Substring?
  /// As written, without the `#`; nil when there is none.
  let fragment: Substring?

  init(_ text: String) throws(URLProblem) {
    guard let (written, rest) = splitScheme(text), let scheme = Origin.Scheme(rawValue: written) else { throw .scheme }
    let bytes = rest.utf8
    let authorityEnd = bytes.firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
    let fragmentStart = bytes[authorityEnd...].firstIndex(of: UInt8(ascii: "#"))
    let end = fragmentStart ?? bytes.endIndex
    let queryStart = bytes[authorityEnd..<end].firstIndex(of: UInt8(ascii: "?"))
    let authority = try HostAndPort(rest[..<authorityEnd])
    origin = try Origin(scheme, authority)
    writtenPort = authority.port
    path = rest[authorityEnd..<(queryStart ?? end)]
    query = queryStart.map { rest[bytes.index(after: $0)..<end] }
    fragment = fragmentStart.map { rest[bytes.index(after: $0)...] }
  }
}
