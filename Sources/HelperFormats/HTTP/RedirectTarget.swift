/// Where a redirect leads, as far as it matters: whether that is surely where the request went before. What two readers
/// could understand differently leads away.
enum RedirectTarget {
  /// Whether an answer with this status and these fields sends curl to none of `origins`.
  static func leads(away status: Int?, _ fields: [(name: String, value: String)], from origins: [String]) -> Bool {
    guard let status, (300...399).contains(status) else { return false }
    return fields.contains { $0.name == "location" && !stays($0.value, on: origins) }
  }

  private static func stays(_ location: String, on origins: [String]) -> Bool {
    let known = origins.compactMap(parts)
    if location.hasPrefix("//") {
      // The scheme stays, too.
      return known.contains { origin in parts("\(origin.scheme):\(location)").map { $0 == origin } ?? false }
    }
    let head = location.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    // Without a scheme it is relative (RFC 3986 §4.2).
    guard head.contains(":") else { return true }
    return parts(location).map { found in known.contains { $0 == found } } ?? false
  }

  /// Scheme and authority in lower case, without the scheme's own port; nil where there is no authority.
  private static func parts(_ url: String) -> (scheme: String, authority: String)? {
    let text = url.utf8
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")), text[colon...].starts(with: "://".utf8) else {
      return nil
    }
    let scheme = url[..<colon].lowercased()
    let rest = url[text.index(colon, offsetBy: 3)...]
    var authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
    let port = scheme == "https" ? ":443" : ":80"
    if authority.hasSuffix(port) { authority.removeLast(port.count) }
    return authority.isEmpty ? nil : (scheme, authority)
  }
}
