import Glibc

/// Reads canonical members from the front of a line. A member that is not there leaves the reader where it is; a member of
/// another spelling stops it there, so that the end of the object is not found.
struct TokenLineReader {
  private let bytes: UnsafeRawBufferPointer
  private var at = 0
  private var hasMembers = false

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { at == bytes.count }

  mutating func take(_ literal: StaticString) -> Bool {
    let count = literal.utf8CodeUnitCount
    // What is not there mostly begins otherwise.
    guard bytes.count - at >= count, let start = bytes.baseAddress, bytes[at] == literal.utf8Start.pointee,
      memcmp(start + at, literal.utf8Start, count) == 0
    else { return false }
    at += count
    return true
  }

  /// A number of 0 to 2^53 - 1 without needless digits.
  mutating func identifier() -> Int64? {
    guard let number = digits(), number <= Int(RequestID.greatestNumber) else { return nil }
    return Int64(number)
  }

  /// `name` ends with the opening quote.
  mutating func stringMember(_ name: StaticString) -> Range<Int>? {
    guard let start = begin(name) else { return nil }
    guard let range = string() else {
      at = start
      return nil
    }
    hasMembers = true
    return range
  }

  mutating func integerMember(_ name: StaticString) -> Int? {
    guard let start = begin(name) else { return nil }
    let negative = take("-")
    guard let number = digits(), !(negative && number == 0) else {
      at = start
      return nil
    }
    hasMembers = true
    return negative ? -number : number
  }

  /// `name` ends with the opening bracket.
  mutating func skipStringsMember(_ name: StaticString) -> Bool {
    guard begin(name) != nil else { return false }
    hasMembers = true
    if take("]") { return true }
    repeat {
      guard take("\""), string() != nil else { return false }
    } while take(",")
    return take("]")
  }

  mutating func endsObject() -> Bool { take("}") }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// Takes the comma before, and the name. Returns where it began.
  private mutating func begin(_ name: StaticString) -> Int? {
    let start = at
    if hasMembers, !take(",") { return nil }
    guard take(name) else {
      at = start
      return nil
    }
    return start
  }

  /// The contents up to the closing quote, which is taken.
  private mutating func string() -> Range<Int>? {
    let start = at
    guard let base = bytes.baseAddress,
      let quote = memchr(base + start, Int32(UInt8(ascii: "\"")), bytes.count - start)
    else { return nil }
    let end = UnsafeRawPointer(quote) - base
    // Without a branch for each byte: a token may be long.
    var odd: UInt8 = 0
    for byte in UnsafeRawBufferPointer(rebasing: bytes[start..<end]) {
      odd |= (byte < 0x20 ? 1 : 0) | (byte > 0x7E ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
    }
    guard odd == 0 else { return nil }
    at = end + 1
    return start..<end
  }

  private mutating func digits() -> Int? {
    let start = at
    var number = 0
    while at < bytes.count, case let digit = bytes[at] &- UInt8(ascii: "0"), digit < 10, at - start < 18 {
      number = number * 10 + Int(digit)
      at += 1
    }
    guard at > start, at - start == 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
    return number
  }
}
