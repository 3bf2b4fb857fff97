/// A path that begins with `~/`: in the home folder, as a shell has it.
package enum TildePath {
  /// Nil where it does not begin so, or nobody knows the home folder. Byte by byte: the slash may make one character with the letter
  /// behind it.
  package static func expanded(_ path: String, home: String?) -> String? {
    guard let home, path.utf8.starts(with: "~/".utf8) else { return nil }
    return home + String(decoding: path.utf8.dropFirst(), as: UTF8.self)
  }
}
