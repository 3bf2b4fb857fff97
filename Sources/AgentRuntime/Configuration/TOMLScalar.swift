/// Whether the text of a value without quotes is one that TOML has: a boolean, a number, a date or a time.
///
/// Its shape alone: whether a number fits 64 bits, and whether a month has that day, is the parser's.
struct TOMLScalar {
  /// Longest text; a date with a time and nine decimals has 35 bytes.
  static let longest = 64

  private var rest: ArraySlice<UInt8>

  private init(_ text: ArraySlice<UInt8>) { rest = text }

  static func isValid(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.count <= longest else { return false }
    if [UInt8](text) == Array("true".utf8) || [UInt8](text) == Array("false".utf8) { return true }
    var (prefixed, decimal, moment) = (Self(text), Self(text), Self(text))
    return prefixed.takePrefixedInteger() || decimal.takeDecimal() || moment.takeMoment()
  }

  static func isDate(_ text: ArraySlice<UInt8>) -> Bool {
    var scalar = Self(text)
    return scalar.takeDate() && scalar.rest.isEmpty
  }

  /// What stands behind a value: blanks, line ends, and the marks between values.
  static func isEnd(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"), UInt8(ascii: ","),
      UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "#"):
      true
    default: false
    }
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }

  private mutating func take(_ choice: StaticString) -> Bool {
    guard let first = rest.first else { return false }
    let isFound = choice.withUTF8Buffer { $0.contains(first) }
    if isFound { rest = rest.dropFirst() }
    return isFound
  }

  /// Digits, with single underscores between them.
  private mutating func takeDigits(_ isDigit: (UInt8) -> Bool = Self.isDigit) -> Bool {
    repeat {
      let digits = rest.prefix(while: isDigit)
      guard !digits.isEmpty else { return false }
      rest = rest.dropFirst(digits.count)
    } while take("_")
    return true
  }

  private mutating func takeDigits(exactly count: Int) -> Bool {
    guard rest.prefix(count).count == count, rest.prefix(count).allSatisfy(Self.isDigit) else { return false }
    rest = rest.dropFirst(count)
    return true
  }

  private mutating func takePrefixedInteger() -> Bool {
    guard take("0") else { return false }
    let isWhole =
      if take("x") {
        takeDigits(Self.isHexDigit)
      } else if take("o") {
        takeDigits { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }
      } else if take("b") {
        takeDigits { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: "1") }
      } else {
        false
      }
    return isWhole && rest.isEmpty
  }

  /// An integer or a floating-point number.
  private mutating func takeDecimal() -> Bool {
    _ = take("+-")
    if rest.elementsEqual("inf".utf8) || rest.elementsEqual("nan".utf8) { return true }
    // No number begins with a zero and another digit.
    guard take("0") || takeDigits() else { return false }
    if take(".") {
      guard takeDigits() else { return false }
    }
    if take("eE") {
      _ = take("+-")
      guard takeDigits() else { return false }
    }
    return rest.isEmpty
  }

  /// A date, a time, or both with or without an offset.
  private mutating func takeMoment() -> Bool {
    var time = self
    if time.takeTime() { return time.rest.isEmpty }
    guard takeDate() else { return false }
    if rest.isEmpty { return true }
    guard take("Tt "), takeTime() else { return false }
    if rest.isEmpty { return true }
    if take("Zz") { return rest.isEmpty }
    return take("+-") && takeDigits(exactly: 2) && take(":") && takeDigits(exactly: 2) && rest.isEmpty
  }

  private mutating func takeDate() -> Bool {
    takeDigits(exactly: 4) && take("-") && takeDigits(exactly: 2) && take("-") && takeDigits(exactly: 2)
  }

  private mutating func takeTime() -> Bool {
    guard takeDigits(exactly: 2), take(":"), takeDigits(exactly: 2), take(":"), takeDigits(exactly: 2) else {
      return false
    }
    guard take(".") else { return true }
    let decimals = rest.prefix(while: Self.isDigit)
    rest = rest.dropFirst(decimals.count)
    return !decimals.isEmpty
  }
}
