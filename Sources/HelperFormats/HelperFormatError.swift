/// Why an input is refused, or a value cannot be written.
package enum HelperFormatError: Error, Sendable, Equatable {
  /// The input is longer than the bound.
  case tooLong(limit: Int)
  /// A line holds no `=`.
  case noEquals(line: Int)
  /// A value holds a control character.
  case controlCharacter(key: String)
  /// A key that may come once comes twice.
  case repeatedKey(String)
  /// A value holds a character that the format cannot carry.
  case unwritable(String)

  /// One line for people.
  package var message: String {
    switch self {
    case .tooLong(let limit): "the input is longer than \(limit) bytes"
    case .noEquals(let line): "line \(line) of the input holds no ="
    case .controlCharacter(let key): "the value of \(key) holds a control character"
    case .repeatedKey(let key): "\(key) comes twice"
    case .unwritable(let what): "\(what) holds a character that cannot be passed on"
    }
  }
}
