/// The `scope` of an account's file as text: read, and added to with everything else left as a person wrote it.
enum ScopeText {
  /// Where it stands, and what it holds.
  private struct Place {
    var scopes: [String]
    /// Where the next one goes; nil: it is no array.
    var insertion: String.Index?
    var value: Range<String.Index>
  }

  private enum Found {
    case at(Place)
    /// There is none; one can stand here.
    case none(String.Index)
    case unreadable
  }

  /// Nil where it is written in a way that is not read here.
  static func scopes(in text: String) -> [String]? {
    switch find(text) {
    case .at(let place): place.scopes
    case .none: []
    case .unreadable: nil
    }
  }

  /// `text` with `more` behind what is there; nil as ``scopes(in:)``. Nothing else changes.
  static func adding(_ more: [String], to text: String) -> String? {
    var result = text
    switch find(text) {
    case .unreadable: return nil
    case .none(let index):
      let needsBreak = index > text.startIndex && !text[text.index(before: index)].endsLine
      result.insert(contentsOf: (needsBreak ? "\n" : "") + "scope = \(TOMLText.array(more))\n", at: index)
    case .at(let place):
      let words = more.filter { !place.scopes.contains($0) }
      guard !words.isEmpty else { return text }
      if let insertion = place.insertion {
        let list = words.map(TOMLText.string).joined(separator: ", ")
        result.insert(contentsOf: place.scopes.isEmpty ? list : ", " + list, at: insertion)
      } else {
        result.replaceSubrange(place.value, with: TOMLText.array(place.scopes + words))
      }
    }
    // What was written is what is read, or it is not written.
    let before = scopes(in: text) ?? []
    return scopes(in: result) == before + more.filter { !before.contains($0) } ? result : nil
  }

  private static func find(_ text: String) -> Found {
    // A string over several lines could hold anything.
    guard text.range(ofText: "\"\"\"") == nil, text.range(ofText: "'''") == nil else { return .unreadable }
    var line = text.startIndex
    var end = text.startIndex
    while line < text.endIndex {
      let next = text[line...].firstIndex(where: \.endsLine).map(text.index(after:)) ?? text.endIndex
      let content = String(text[line..<next]).trimmed
      // A table begins: what stands below is not the account's own.
      if content.hasPrefix("[") { break }
      if let equals = text[line..<next].firstIndex(of: "=") {
        // A key may stand in quotes.
        let key = String(text[line..<equals]).trimmed
        if key == "scope" { return read(text, from: text.index(after: equals)).map(Found.at) ?? .unreadable }
      }
      if !content.isEmpty { end = next }
      line = next
    }
    return .none(end)
  }

  /// The value that begins behind the equals sign.
  private static func read(_ text: String, from start: String.Index) -> Place? {
    var reader = Reader(text: text, at: start)
    reader.skip(lines: false)
    let begin = reader.at
    if let word = reader.string() {
      return Place(
        scopes: word.split(separator: " ").map(String.init), insertion: nil, value: begin..<reader.at)
    }
    guard reader.take("[") else { return nil }
    var scopes: [String] = []
    var insertion = reader.at
    while true {
      reader.skip(lines: true)
      if reader.take("]") { return Place(scopes: scopes, insertion: insertion, value: begin..<reader.at) }
      guard let word = reader.string() else { return nil }
      scopes.append(word)
      insertion = reader.at
      reader.skip(lines: true)
      if reader.take(",") { continue }
      guard reader.take("]") else { return nil }
      return Place(scopes: scopes, insertion: insertion, value: begin..<reader.at)
    }
  }

  private struct Reader {
    let text: String
    var at: String.Index

    mutating func take(_ character: Character) -> Bool {
      guard at < text.endIndex, text[at] == character else { return false }
      at = text.index(after: at)
      return true
    }

    /// Blanks; with `lines` line ends and comments, too.
    mutating func skip(lines: Bool) {
      while at < text.endIndex {
        let character = text[at]
        if lines, character == "#" {
          at = text[at...].firstIndex(where: \.endsLine) ?? text.endIndex
        } else if character == " " || character == "\t" || lines && character.endsLine {
          at = text.index(after: at)
        } else {
          return
        }
      }
    }

    /// A string on one line without escapes: no scope has one.
    mutating func string() -> String? {
      guard at < text.endIndex, text[at] == "\"" || text[at] == "'" else { return nil }
      let quote = text[at]
      let start = text.index(after: at)
      guard let end = text[start...].firstIndex(where: { $0 == quote || $0.endsLine || $0 == "\\" }),
        text[end] == quote
      else { return nil }
      at = text.index(after: end)
      return String(text[start..<end])
    }
  }
}

extension Character {
  /// Whether it ends a line of TOML. What ends one in other alphabets does not, and may stand in a comment.
  fileprivate var endsLine: Bool { self == "\n" || self == "\r\n" }
}
