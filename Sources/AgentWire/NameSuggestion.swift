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

  /// How many letters are added, left out, changed or swapped with the next: the distance of optimal string alignment.
  private static func edits(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var (before, last) = ([Int](), Array(0...right.count))
    for (i, l) in left.enumerated() {
      var row = [i + 1]
      for (j, r) in right.enumerated() {
        var least = min(last[j + 1] + 1, row[j] + 1, last[j] + (l == r ? 0 : 1))
        if i > 0, j > 0, l == right[j - 1], left[i - 1] == r { least = min(least, before[j - 1] + 1) }
        row.append(least)
      }
      (before, last) = (last, row)
    }
    return last[right.count]
  }
}
