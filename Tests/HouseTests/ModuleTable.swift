/// The tables of docs/modules.md.
struct ModuleTable: Equatable {
  struct Row: Equatable {
    /// What the target may import beside the modules that all may: exactly this, all of it used.
    var imports: Set<String>
    /// Which of the modules that all may import this target may not.
    var never: Set<String>
  }

  enum Malformed: Error, Equatable {
    case noTable(header: String)
    case wrongCells(line: String)
    case twice(name: String)
  }

  var targets: [String: Row] = [:]
  /// Files below Sources that may import less than their target: path → modules.
  var files: [String: Set<String>] = [:]

  init(markdown: String) throws {
    for cells in try Self.rows(of: "| target |", cells: 4, in: markdown) {
      guard targets[cells[0].text] == nil else { throw Malformed.twice(name: cells[0].text) }
      targets[cells[0].text] = Row(imports: cells[2].names, never: cells[3].names)
    }
    for cells in try Self.rows(of: "| file |", cells: 2, in: markdown) {
      guard files[cells[0].text] == nil else { throw Malformed.twice(name: cells[0].text) }
      files[cells[0].text] = cells[1].names
    }
  }

  private struct Cell {
    var source: Substring
    /// The content without blanks around it and without backquotes.
    var text: String { String(source.filter { $0 != "`" && $0 != " " }) }
    /// Every name that stands in backquotes.
    var names: Set<String> {
      let parts = source.split(separator: "`", omittingEmptySubsequences: false)
      return Set(parts.indices.filter { !$0.isMultiple(of: 2) }.map { String(parts[$0]) })
    }
  }

  private static func rows(of header: String, cells count: Int, in markdown: String) throws -> [[Cell]] {
    let lines = markdown.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0.hasPrefix(header) }) else {
      throw Malformed.noTable(header: header)
    }
    return try lines[(start + 2)...].prefix(while: { $0.hasPrefix("|") }).map { line in
      // `| a | b |` has an empty piece at either end.
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
      guard cells.count == count else { throw Malformed.wrongCells(line: String(line)) }
      return cells.map(Cell.init(source:))
    }
  }
}
