/// The URL of a key `credential.URL.…`: which addresses git takes it for (gitcredentials(7)). What is not read plainly fits: this
/// is for warnings.
struct GitPattern {
  /// Nil: it has nothing that could differ.
  private let parts: Parts?

  init(_ url: String) { parts = url.isEmpty ? nil : Parts(url) }

  /// Whether it counts for the address `other`, or for a part of its paths. A name of a user in either is left out.
  func fits(_ other: GitPattern) -> Bool {
    guard let own = parts, let asked = other.parts else { return true }
    guard own.scheme.isEmpty || own.scheme == asked.scheme else { return false }
    guard own.isPlain, own.hasHost, asked.hasHost else { return true }
    guard own.labels.count == asked.labels.count, zip(own.labels, asked.labels).allSatisfy({ $0 == "*" || $0 == $1 })
    else { return false }
    return own.port(as: asked.scheme) == asked.port(as: asked.scheme)
      && zip(own.path, asked.path).allSatisfy { $0 == $1 }
  }

  /// Whether it counts for each user and path of the address `other`, where it fits. What is not read plainly may not. Of one
  /// without a scheme git compares host and port as they are written.
  func isWhole(_ other: GitPattern) -> Bool {
    guard let own = parts else { return true }
    guard own.isPlain, !own.hasUser, own.path.count <= other.parts?.path.count ?? 0 else { return false }
    return !own.scheme.isEmpty || own.authority == other.parts?.authority
  }

  private struct Parts {
    /// Empty where none stands there.
    let scheme: String
    /// As it is written.
    let authority: Substring
    let hasHost: Bool
    let labels: [Substring]
    let path: [Substring]
    private let port: String
    let hasUser: Bool
    let isPlain: Bool

    init(_ url: String) {
      let mark = url.range(ofText: "://")
      scheme = mark.map { url[..<$0.lowerBound].lowercased() } ?? ""
      let rest = mark.map { url[$0.upperBound...] } ?? url[...]
      let authority = rest.prefix { $0 != "/" }
      self.authority = authority
      hasUser = authority.contains("@")
      let place = (authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority)
        .lowercased()
      hasHost = !place.isEmpty
      // An address of IPv6 has colons in its brackets.
      let colon = place.lastIndex(of: ":").flatMap { place[$0...].contains("]") ? nil : $0 }
      // As git compares them: of what ends with a dot nothing comes behind it.
      let names = place[..<(colon ?? place.endIndex)].split(separator: ".", omittingEmptySubsequences: false)
      labels = names.last?.isEmpty == true ? names.dropLast() : names
      port = colon.map { String(place[place.index(after: $0)...].drop { $0 == "0" }) } ?? ""
      path = rest.dropFirst(authority.count).split(separator: "/")
      isPlain = url.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "%") }
    }

    func port(as scheme: String) -> String { port.isEmpty ? (scheme == "http" ? "80" : "443") : port }
  }
}
