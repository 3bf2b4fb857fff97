/// The lines of a person's file, by line feeds alone: what ends a line in other alphabets does not, and a carriage return belongs
/// to its line, which is written back as it was.
enum FileLines {
  /// The empty ones, too; none behind the last line feed.
  static func all(_ text: String) -> [String] {
    var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  /// Those that are to be shown: without empty ones, ends, and the first of a file that we wrote.
  static func shown(_ text: String) -> [String] {
    all(text).map { $0.utf8.last == UInt8(ascii: "\r") ? String($0.unicodeScalars.dropLast()) : $0 }
      .filter { !$0.isEmpty && $0 != NewAccount.firstLine }
  }

  /// What only one of two texts has, however often: `- ` was, `+ ` now. Order is kept, common lines are left out.
  static func differences(from old: String, to new: String) -> [String] {
    let (before, after) = (shown(old), shown(new))
    return surplus(before, after).map { "- " + $0 } + surplus(after, before).map { "+ " + $0 }
  }

  /// The lines of `some` that `others` have not, or not as often.
  private static func surplus(_ some: [String], _ others: [String]) -> [String] {
    var left = others.reduce(into: [[UInt8]: Int]()) { $0[Array($1.utf8), default: 0] += 1 }
    return some.filter { line in
      guard let count = left[Array(line.utf8)], count > 0 else { return true }
      left[Array(line.utf8)] = count - 1
      return false
    }
  }
}
