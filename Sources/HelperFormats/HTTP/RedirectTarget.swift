import HTTPTerms

/// Where a redirect leads, as far as it matters: whether that is surely where the request went before. What two readers
/// could understand differently leads away.
enum RedirectTarget {
  /// Whether an answer with this status and these fields sends curl to none of `origins`.
  static func leads(
    away status: Int?, _ fields: [(name: String, value: String)], from origins: [Origin]
  ) -> Bool {
    guard let status, (300...399).contains(status) else { return false }
    return fields.contains { $0.name == "location" && !stays($0.value, on: origins) }
  }

  private static func stays(_ location: String, on origins: [Origin]) -> Bool {
    if location.hasPrefix("//") {
      // The scheme stays, too.
      return origins.contains { (try? Origin(of: "\($0.scheme.rawValue):\(location)")) == $0 }
    }
    let head = location.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    // Without a scheme it is relative (RFC 3986 §4.2).
    guard head.contains(":") else { return true }
    return (try? Origin(of: location)).map(origins.contains) ?? false
  }
}
