/// Changes single keys of `config.toml` and leaves every other line, comments too, as somebody wrote it.
struct SettingsText: Equatable {
  private(set) var lines: [String]

  init(_ text: String) {
    lines = FileLines.all(text)
  }

  var text: String { lines.map { $0 + "\n" }.joined() }

  /// Writes `key = value` where the key stands, else behind the last line; nil takes it away. False: its value goes on
  /// over several lines, or it stands there twice, or a key has escapes and may be it: that is for its author to change.
  mutating func set(_ key: String, _ value: String?) -> Bool {
    if lines.contains(where: Self.hasEscapedKey) || lines.count(where: { Self.key(of: $0) == key }) > 1 { return false }
    let place = lines.firstIndex { Self.key(of: $0) == key }
    if let place, lines[place].contains("["), !lines[place].contains("]") { return false }
    switch (place, value) {
    case (let place?, let value?): lines[place] = "\(key) = \(value)"
    case (let place?, nil): lines.remove(at: place)
    case (nil, let value?): lines.insert("\(key) = \(value)", at: lines.firstIndex { $0.hasPrefix("[") } ?? lines.count)
    case (nil, nil): break
    }
    return true
  }

  /// The text that stands for `key` on a line of its own, in quotes and without escapes; nil: another value, or none.
  func text(of key: String) -> String? {
    guard let line = lines.first(where: { Self.key(of: $0) == key }), let equals = line.firstIndex(of: "=") else {
      return nil
    }
    let value = line[line.index(after: equals)...].drop { $0 == " " || $0 == "\t" }
    guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
    let inner = value.dropFirst().prefix { $0 != quote }
    return inner.contains("\\") || inner.endIndex == value.endIndex ? nil : String(inner)
  }

  /// A quoted key may spell any of its letters by a backslash (TOML, "Keys").
  private static func hasEscapedKey(_ line: String) -> Bool {
    guard let equals = line.firstIndex(of: "="),
      case let key = line[..<equals].drop(while: { " \t\u{FEFF}".contains($0) })
    else { return false }
    return key.hasPrefix("\"") && key.contains("\\")
  }

  private static func key(of line: String) -> String? {
    guard let equals = line.firstIndex(of: "=") else { return nil }
    // A file may begin with a byte order mark.
    return String(line[..<equals].filter { !" \t\"'\u{FEFF}".contains($0) })
  }
}
