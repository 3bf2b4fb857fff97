/// The known name that somebody probably meant.
package enum NameSuggestion {
  /// Within two edits, or one of the two names begins with the other; nil when nothing is near.
  package static func nearest(to name: String, among known: [String]) -> String? {
    guard (1...64).contains(name.utf8.count) else { return nil }
    let plain = normalised(name)
    let ranked = known.map { (known: $0, edits: edits(plain, normalised($0))) }
    if let best = ranked.min(by: { ($0.edits, $0.known) < ($1.edits, $1.known) }),
      best.edits <= (plain.count > 4 ? 2 : 1)
    {
      return best.known
    }
    guard plain.count >= 2 else { return nil }
    return known.sorted().first { normalised($0).starts(with: plain) || plain.starts(with: normalised($0)) }
  }

  private static func normalised(_ name: String) -> [UInt8] {
    name.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
  }

  /// Levenshtein distance.
  private static func edits(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, l) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, r) in right.enumerated() {
        let above = row[j + 1]
        row[j + 1] = min(above + 1, row[j] + 1, diagonal + (l == r ? 0 : 1))
        diagonal = above
      }
    }
    return row[right.count]
  }
}
