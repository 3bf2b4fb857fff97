/// `{name}` in a preset's texts: the place of an answer to one of its questions.
enum Placeholders {
  /// The names in `text`, in order; nil where a brace has no partner.
  static func names(in text: String) -> [String]? {
    var names: [String] = []
    var rest = text[...]
    while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}") else { return nil }
      names.append(String(rest[rest.index(after: open)..<close]))
      rest = rest[rest.index(after: close)...]
    }
    return names
  }

  /// `text` with each name replaced that `values` knows.
  static func filled(_ text: String, with values: [String: String]) -> String {
    var filled = ""
    var rest = text[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      let name = String(rest[rest.index(after: open)..<close])
      filled += rest[..<open] + (values[name] ?? "{\(name)}")
      rest = rest[rest.index(after: close)...]
    }
    return filled + rest
  }

  /// What is wrong with an answer, as it stands in URLs; nil for a good one. What results is judged as a whole.
  static func problem(of answer: String) -> String? {
    let isPlain = answer.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: ":"):
        true
      default: false
      }
    }
    return (1...253).contains(answer.utf8.count) && isPlain
      ? nil
      : "it has 1 to 253 letters, digits, and . - _ : alone"
        + (answer.contains("/" as Character) ? ", and no https:// before it" : "")
  }
}
