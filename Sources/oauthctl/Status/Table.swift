/// A table for people: columns as wide as their content, two blanks between, the last one open to the right. What does
/// not fit into the width is taken off: first whole columns, the least important first, then the last one is cut.
struct Table: Sendable {
  struct Column: Sendable {
    var title: String
    /// Columns with a higher number go first when the table is too wide; 0 stays.
    var dropOrder: Int
  }

  var columns: [Column]
  var rows: [[String]]

  /// The lines of the table within `width` columns; nil: as wide as it gets. `paint` colours a cell (its row, its
  /// column in `columns`) after it was padded.
  func lines(width: Int?, paint: (_ text: String, _ row: Int, _ column: Int) -> String = { text, _, _ in text })
    -> [String]
  {
    var kept = Array(columns.indices)
    if let width {
      while total(kept) > width,
        let drop = kept.filter({ columns[$0].dropOrder > 0 }).max(by: { columns[$0].dropOrder < columns[$1].dropOrder })
      {
        kept.removeAll { $0 == drop }
      }
    }
    let widths = kept.map(columnWidth)
    var result: [String] = []
    for row in -1..<rows.count {
      var line = ""
      var used = 0
      for (position, column) in kept.enumerated() {
        let isLast = position == kept.count - 1
        var cell = row < 0 ? columns[column].title : rows[row][column]
        if let width { cell = Self.cut(cell, to: max(1, width - used)) }
        let padding = isLast ? "" : String(repeating: " ", count: max(0, widths[position] - cell.count))
        line += row < 0 ? cell : paint(cell, row, column)
        line += padding + (isLast ? "" : "  ")
        used += widths[position] + 2
        if let width, used >= width { break }
      }
      while line.hasSuffix(" ") { line.removeLast() }
      result.append(line)
    }
    return result
  }

  private func columnWidth(_ column: Int) -> Int {
    rows.reduce(columns[column].title.count) { max($0, $1[column].count) }
  }

  private func total(_ kept: [Int]) -> Int {
    kept.reduce(0) { $0 + columnWidth($1) } + 2 * max(0, kept.count - 1)
  }

  static func cut(_ text: String, to width: Int) -> String {
    guard text.count > width else { return text }
    return width <= 1 ? String(text.prefix(width)) : text.prefix(width - 1) + "…"
  }
}
