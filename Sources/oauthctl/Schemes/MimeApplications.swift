/// Changes one type of `mimeapps.list` (Association between MIME types and applications), and leaves every other line as
/// somebody wrote it.
struct MimeApplications: Equatable {
  private static let defaults = "[Default Applications]"

  private var lines: [String]

  init(_ text: String) {
    lines = FileLines.all(text)
  }

  var text: String { lines.map { $0 + "\n" }.joined() }

  /// Whether it says nothing: no more is left than ``add(_:)`` writes around its line.
  var saysNothing: Bool { lines.allSatisfy { $0.trimmed.isEmpty || $0.trimmed == Self.defaults } }

  /// Makes `handler` the one that its addresses go to.
  mutating func add(_ handler: SchemeHandler) {
    let line = "\(handler.type)=\(handler.entry)"
    guard let header = lines.firstIndex(where: { $0.trimmed == Self.defaults }) else {
      lines += (lines.isEmpty ? [] : [""]) + [Self.defaults, line]
      return
    }
    let group = (header + 1)..<(lines[(header + 1)...].firstIndex { $0.hasPrefix("[") } ?? lines.count)
    if let place = lines[group].firstIndex(where: { Self.key(of: $0) == handler.type }) {
      // The one before is the next in line, and the first again when ours is taken out.
      let others = Self.entries(of: lines[place]).filter { $0 != handler.entry }
      lines[place] = ([line] + others).joined(separator: ";")
    } else {
      lines.insert(line, at: header + 1)
    }
  }

  /// Takes `handler` out of the group that ``add(_:)`` writes into, and nobody else.
  mutating func remove(_ handler: SchemeHandler) {
    var isInDefaults = false
    lines = lines.compactMap { line in
      if line.hasPrefix("[") { isInDefaults = line.trimmed == Self.defaults }
      guard isInDefaults else { return line }
      let entries = Self.entries(of: line)
      guard Self.key(of: line) == handler.type, entries.contains(handler.entry) else { return line }
      let others = entries.filter { $0 != handler.entry }
      return others.isEmpty ? nil : "\(handler.type)=\(others.joined(separator: ";"))"
    }
  }

  /// Behind the equals sign.
  private static func entries(of line: String) -> [String] {
    guard let equals = line.firstIndex(of: "=") else { return [] }
    return line[line.index(after: equals)...].split(separator: ";").map { String($0).trimmed }.filter { !$0.isEmpty }
  }

  private static func key(of line: String) -> String? {
    line.firstIndex(of: "=").map { String(line[..<$0]).trimmed }
  }
}
