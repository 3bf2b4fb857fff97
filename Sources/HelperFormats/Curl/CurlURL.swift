package import HTTPTerms

/// A URL operand, read more strictly than curl reads it: whatever two parsers could understand differently is refused,
/// so that the host that was checked is the host that gets the token.
package struct CurlURL: Sendable, Equatable {
  package let origin: Origin
  /// Whether curl makes several transfers of it (`{a,b}`, `[1-9]`).
  package let isGlob: Bool

  /// As written, where it is sure to mean the same to two readers; else empty.
  private let path: String

  /// What goes to the agent: the path, which distinguishes accounts of one host. The query does not.
  package var place: String { origin.description + (path.isEmpty ? "/" : path) }

  /// As written, with its scheme, and without query and fragment: what a proof is made for.
  package let target: String

  /// Whether it ends in no file: curl adds the name of one that it uploads.
  package var isFolder: Bool { target.hasSuffix("/") || target == origin.description }

  package enum Refusal: Error, Equatable {
    case scheme(String)
    case plainText(String)
    case userInfo
    case host(String)
  }

  /// Reads an operand; `globbing` is false after `--globoff`.
  ///
  /// - Throws: `Refusal` for what is not surely a host that may get a token.
  package init(_ text: String, globbing: Bool) throws(Refusal) {
    // curl is told --proto-default https, so that this guess and its own agree.
    let (scheme, rest) = splitScheme(text) ?? ("https", text[...])
    guard let known = Origin.Scheme(rawValue: scheme) else { throw .scheme(scheme) }
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    do {
      origin = try Origin(scheme: known, authority: authority)
    } catch {
      switch error {
      case .userInfo: throw .userInfo
      case .plainHTTP: throw .plainText(authority.lowercased())
      default: throw .host(String(authority))
      }
    }
    guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
      throw .host(String(authority))
    }
    let path = rest[authority.endIndex...]
    target = "\(scheme)://" + rest.prefix { $0 != "?" && $0 != "#" }
    isGlob = globbing && path.utf8.contains { "{[".utf8.contains($0) }
    self.path = Self.plain(path.prefix { $0 != "?" && $0 != "#" })
  }

  /// Letters, digits and `-._~` between slashes; empty for a path with anything else, or with dot segments.
  private static func plain(_ path: Substring) -> String {
    let isPlain = path.utf8.allSatisfy { isDigit($0) || isLetter($0) || "/-._~".utf8.contains($0) }
    let hasDots = path.split(separator: "/").contains { $0.allSatisfy { $0 == "." } }
    return isPlain && !hasDots && path.utf8.count <= 1_024 ? String(path) : ""
  }
}
