/// The module that a line of Swift imports, if it is an import line.
func importedModule(_ line: some StringProtocol) -> String? {
  var words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })[...]
  // Attributes (`@testable`, `@_spi(x)`) and an access level may come first.
  while let word = words.first, word.hasPrefix("@") || accessLevels.contains(String(word)) { words.removeFirst() }
  guard words.popFirst() == "import", let next = words.popFirst() else { return nil }
  // `import struct Module.Name` imports Module too.
  guard let path = importKinds.contains(String(next)) ? words.first : next else { return nil }
  return String(path.prefix(while: { $0 != "." && $0 != ";" }))
}

private let accessLevels: Set<String> = ["public", "package", "internal", "fileprivate", "private"]
private let importKinds: Set<String> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
