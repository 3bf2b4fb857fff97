import HTTPTerms

/// Words of a server's text that look like a token. They are left out even where nothing known is found in them, so that
/// a secret does not get out in an encoding that nobody thought of.
///
/// Names, numbers, times, paths and camel case change between small letters, capitals and digits now and then; what was
/// encoded or drawn by lot does it all the time. Identifiers of a request or of a session are left out with the rest.
enum TokenLikeWords {
  /// Letters and digits of a word that are like a token's; fewer are a number, a version, a short name.
  private static let leastWeight = 12
  /// The digits of an account, a project or a time in milliseconds. One such number in a word says nothing.
  private static let numberDigits = 14

  /// What to leave out of a text: whole words, but not the server's name in an address. Words for which `isPublic` says so
  /// stay.
  static func find(in bytes: [UInt8], _ isPublic: (ArraySlice<UInt8>) -> Bool = { _ in false }) -> [Range<Int>] {
    var found: [Range<Int>] = []
    for word in bytes.split(whereSeparator: isSeparator) {
      guard word.count >= leastWeight, weight(of: word) >= leastWeight, !isTime(word), !isPublic(word) else { continue }
      let start = endOfHost(word)
      found.append((weight(of: word[..<start]) < leastWeight ? start : word.startIndex)..<word.endIndex)
    }
    return found
  }

  /// Other signs are part of a word; those beyond ASCII and those that nobody sees do not even end a part of it.
  private static func isSeparator(_ byte: UInt8) -> Bool { " \t\r\n\"'`()<>[]{},;|".utf8.contains(byte) }

  private static func weight(of word: ArraySlice<UInt8>) -> Int {
    var weight = 0
    var longestNumber = 0
    for part in word.filter({ (0x21...0x7E).contains($0) }).split(whereSeparator: { !UnescapedText.isLetterOrDigit($0) }
    ) {
      let digits = part.count(where: isDigit)
      weight += isDense(part) ? part.count : digits
      if digits == part.count, digits <= numberDigits { longestNumber = max(longestNumber, digits) }
    }
    return weight - longestNumber
  }

  /// Whether letters and digits alternate, or words begin as in camel case, more often than names have it.
  private static func isDense(_ part: ArraySlice<UInt8>) -> Bool {
    var changes = 0
    var beginnings = 0
    for (index, byte) in part.enumerated().dropFirst() {
      let before = part[part.startIndex + index - 1]
      if isDigit(before) != isDigit(byte) {
        changes += 1
      } else if isCapital(byte) {
        let next = part.dropFirst(index + 1).first
        if !isCapital(before) || next.map({ !isCapital($0) && !isDigit($0) }) == true { beginnings += 1 }
      }
    }
    return (changes + beginnings) * 5 > part.count || changes >= 3 && changes * 10 > part.count
  }

  /// `2024-01-15T10:22:33.1234567Z`
  private static func isTime(_ word: ArraySlice<UInt8>) -> Bool {
    word.dropFirst(4).first == UInt8(ascii: "-") && word.dropFirst(7).first == UInt8(ascii: "-")
      && word.allSatisfy { isDigit($0) || "-:.+TZ".utf8.contains($0) }
  }

  /// The index behind the server's name in an address; the first index where there is none.
  private static func endOfHost(_ word: ArraySlice<UInt8>) -> Int {
    for scheme in ["https://", "http://"] where word.starts(with: scheme.utf8) {
      let rest = word.dropFirst(scheme.utf8.count)
      return rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    }
    return word.startIndex
  }

  private static func isCapital(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
}
