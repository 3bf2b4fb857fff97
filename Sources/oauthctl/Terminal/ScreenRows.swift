/// A line as rows of a screen. Text of others may be long: no row but the first begins with it, so none looks like a line of
/// this program.
enum ScreenRows {
  /// How far the rest of a line is moved to the right beneath its first row.
  private static let indentation = 4

  /// `line` broken where the screen ends, behind a blank where there is one. The rows are the line again when they are put
  /// together without their indentation.
  ///
  /// `keepsAddresses`: a web address that is longer than a row stays whole, on rows of its own: terminals open it, people
  /// copy it. `command`, which `line` ends with, stays whole for the same reason: it is one of this program.
  static func rows(
    of line: String, columns: Int, keepsAddresses: Bool = false, endingWith command: String? = nil
  ) -> [String] {
    rows(of: line, columns, beneath: line.prefix { $0 == " " }.count + indentation, keepsAddresses, command)
  }

  /// `label`, which has `width` columns without its colours, and `text` behind it: its further rows begin beneath it, and
  /// below the label where that leaves no room. `columns`: nil, where there is no screen.
  static func rows(_ label: String, width: Int, _ text: String, columns: Int?) -> [String] {
    guard let columns else { return [label + text] }
    guard width < columns / 2 else {
      return [label] + rows(of: blanks(indentation) + text, columns, beneath: indentation)
    }
    var found = rows(of: blanks(width) + text, columns, beneath: width)
    found[0] = label + found[0].dropFirst(width)
    return found
  }

  private static func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }

  private static func rows(
    of line: String, _ columns: Int, beneath column: Int, _ keepsAddresses: Bool = false, _ command: String? = nil
  ) -> [String] {
    let margin = blanks(min(column, columns / 2))
    var found: [String] = []
    var (row, used, isEmpty) = ("", 0, true)
    func breakRow() {
      found.append(row)
      (row, used, isEmpty) = (margin, margin.count, true)
    }
    let end = command.flatMap { line.hasSuffix($0) ? Substring($0).unicodeScalars : nil }
    let before = words(of: String(line.unicodeScalars.dropLast(end?.count ?? 0)))
    for (index, word) in (before + [end].compactMap(\.self)).enumerated() {
      let needed = width(of: word)
      let isWhole = keepsAddresses && isAddress(word) || index == before.count
      if !isEmpty, used + needed >= columns { breakRow() }
      for scalar in word {
        if used + width(scalar) >= columns, !isWhole { breakRow() }
        row.unicodeScalars.append(scalar)
        used += width(scalar)
        if scalar != " " { isEmpty = false }
      }
    }
    return found + [row]
  }

  /// Whether `words` have a row for themselves, however far it is moved to the right.
  static func isOneRow(_ words: String, columns: Int) -> Bool {
    width(of: Substring(words).unicodeScalars) + 2 * indentation < columns
  }

  /// How many rows the terminal makes of a line that it breaks itself.
  static func height(of line: String, columns: Int) -> Int {
    max(1, (width(of: Substring(line).unicodeScalars) + columns - 1) / columns)
  }

  /// Each with the blanks behind it.
  private static func words(of line: String) -> [Substring.UnicodeScalarView] {
    var found: [Substring.UnicodeScalarView] = []
    var rest = line.unicodeScalars[...]
    while !rest.isEmpty {
      let end = rest.firstIndex { $0 != " " }.flatMap { rest[$0...].firstIndex(of: " ") } ?? rest.endIndex
      let next = rest[end...].firstIndex { $0 != " " } ?? rest.endIndex
      found.append(rest[..<next])
      rest = rest[next...]
    }
    return found
  }

  private static func isAddress(_ word: Substring.UnicodeScalarView) -> Bool {
    let word = Substring(word.drop { $0 == " " })
    return word.hasPrefix("https://") || word.hasPrefix("http://")
  }

  private static func width(of text: Substring.UnicodeScalarView) -> Int { text.reduce(0) { $0 + width($1) } }

  /// Columns at most: wide characters begin with Hangul's letters (U+1100). What is narrower than this says only ends its row
  /// earlier.
  private static func width(_ scalar: Unicode.Scalar) -> Int { scalar.value < 0x1100 ? 1 : 2 }
}
