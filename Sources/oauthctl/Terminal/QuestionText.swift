/// A question with what it is about, laid out for the screen that it is answered on.
///
/// Text of others may be long. ``ScreenRows`` breaks it, and where not all fits onto the screen, that stands above the question:
/// what is agreed to is never pushed out of sight without a word.
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
  /// What is typed by whoever does it by hand, below the lines: the program's own words, which stay whole and are copied.
  var commands: [String] = []
  let question: String

  /// Everything, without a line end behind the question.
  func text(on screen: Screen) -> String {
    let about = lines.flatMap { ScreenRows.rows(of: $0, columns: screen.columns) }
    let asked = ScreenRows.rows(of: question, columns: screen.columns)
    let count = commands.reduce(about.count) { $0 + ScreenRows.height(of: $1, columns: screen.columns) }
    let note =
      count + asked.count > screen.rows
      ? ScreenRows.rows(
        of: "(\(count) rows, more than this screen shows: scroll up to the first)", columns: screen.columns)
      : []
    return (about + commands + note + asked).joined(separator: "\n")
  }
}
