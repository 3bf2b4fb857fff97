/// `application/x-www-form-urlencoded` (RFC 6749 Appendix B), both ways.
enum FormText {
  static let mediaType = "application/x-www-form-urlencoded"
  /// Most pairs in one form or query.
  static let pairLimit = 100
  private static let hexDigits = Array("0123456789ABCDEF".utf8)

  static func encode(_ pairs: [(String, String)]) -> String {
    pairs.map { "\(percentEncode($0.0))=\(percentEncode($0.1))" }.joined(separator: "&")
  }

  /// Leaves the unreserved characters of RFC 3986 §2.3 alone.
  static func percentEncode(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Nil for a broken escape, text that is not UTF-8, or too many pairs.
  static func decode(_ text: some Collection<UInt8>) -> [(String, String)]? {
    guard !text.isEmpty else { return [] }
    let parts = text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true)
    guard parts.count <= pairLimit else { return nil }
    var pairs: [(String, String)] = []
    for part in parts {
      let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = percentDecode(halves[0]),
        let value = halves.count > 1 ? percentDecode(halves[1]) : ""
      else { return nil }
      pairs.append((name, value))
    }
    return pairs
  }

  static func percentDecode(_ text: some Collection<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = rest.next(), let low = rest.next(),
          let highValue = Character(Unicode.Scalar(high)).hexDigitValue,
          let lowValue = Character(Unicode.Scalar(low)).hexDigitValue
        else { return nil }
        bytes.append(UInt8(highValue << 4 | lowValue))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

/// Parameters of one query or form. A name that came twice has no value at all (RFC 6749 §3.1), save those that may
/// repeat (RFC 8707 §2).
struct Parameters {
  let pairs: [(String, String)]
  private static let repeatable: Set<String> = ["resource", "audience"]

  /// The value of `name`; an empty one counts as absent (RFC 6749 §3.1).
  subscript(_ name: String) -> String? {
    pairs.first { $0.0 == name && !$0.1.isEmpty }?.1
  }

  func all(_ name: String) -> [String] { pairs.filter { $0.0 == name && !$0.1.isEmpty }.map(\.1) }

  /// The first name that came twice without leave.
  var repeated: String? {
    var seen: Set<String> = []
    for (name, _) in pairs where !Parameters.repeatable.contains(name) && !seen.insert(name).inserted { return name }
    return nil
  }
}
