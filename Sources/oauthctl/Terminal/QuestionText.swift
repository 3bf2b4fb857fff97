/// A question with what it is about, laid out for the screen that it is answered on.
///
/// Text of others may be long. No row of the screen but the first of a line begins with it, and where not all fits onto the
/// screen, that stands above the question: what is agreed to is never pushed out of sight without a word.
struct QuestionText {
  /// Columns and rows of the screen.
  struct Screen {
    var columns: Int
    var rows: Int

    /// For a terminal that does not say: what terminals have had since the VT100.
    static let usual = Screen(columns: 80, rows: 24)
  }

  /// Fit to be shown, and in the characters of the user's locale.
  let lines: [String]
  let question: String

  /// How far the rest of a line is moved to the right beneath its first row.
  private static let indentation = 4

  /// Everything, without a line end behind the question.
  func text(on screen: Screen) -> String {
    let about = lines.flatMap { Self.rows(of: $0, columns: screen.columns) }
    let asked = Self.rows(of: question, columns: screen.columns)
    let note =
      about.count + asked.count > screen.rows
      ? Self.rows(
        of: "(\(about.count) rows, more than this screen shows: scroll up to the first)", columns: screen.columns)
      : []
    return (about + note + asked).joined(separator: "\n")
  }

  /// `line` broken where the screen ends, behind a blank where there is one. The rows are the line again when they are put
  /// together without their indentation.
  static func rows(of line: String, columns: Int) -> [String] {
    let own = line.prefix { $0 == " " }.count
    let margin = String(repeating: " ", count: min(own + indentation, columns / 2))
    var found: [String] = []
    var (row, used, isEmpty) = ("", 0, true)
    func breakRow() {
      found.append(row)
      (row, used, isEmpty) = (margin, margin.count, true)
    }
    for word in words(of: line) {
      let needed = word.reduce(0) { $0 + width($1) }
      if !isEmpty, used + needed >= columns { breakRow() }
      for scalar in word {
        if used + width(scalar) >= columns { breakRow() }
        row.unicodeScalars.append(scalar)
        used += width(scalar)
        if scalar != " " { isEmpty = false }
      }
    }
    return found + [row]
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

  /// Columns at most: wide characters begin with Hangul's letters (U+1100). What is narrower than this says only ends its row
  /// earlier.
  private static func width(_ scalar: Unicode.Scalar) -> Int { scalar.value < 0x1100 ? 1 : 2 }
}
