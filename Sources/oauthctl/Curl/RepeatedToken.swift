import HTTPTerms

/// Whether words of a server repeat a piece of the token that it was sent: in either case, percent-encoded, with signs in
/// between. The agent looks for more, but no longer has a token that was renewed since.
enum RepeatedToken {
  /// Letters and digits of a piece; one of this many is no accident.
  static let pieceBytes = 8

  static func appears(_ token: String, in words: [String]) -> Bool {
    let pieces = Set(Self.pieces(of: Array(token.utf8)))
    // A piece may be spread over several words.
    let bytes = Array(words.joined(separator: " ").utf8)
    return [bytes, percentDecoded(bytes)].contains { Self.pieces(of: $0).contains { pieces.contains($0) } }
  }

  /// Each piece as one number.
  private static func pieces(of bytes: [UInt8]) -> [UInt64] {
    var piece: UInt64 = 0
    return bytes.filter { isDigit($0) || isLetter($0) }.enumerated().compactMap { index, byte in
      piece = piece << 8 | UInt64(byte | 0x20)
      return index + 1 < pieceBytes ? nil : piece
    }
  }

  private static func percentDecoded(_ bytes: [UInt8]) -> [UInt8] {
    var rest = bytes[...]
    var decoded: [UInt8] = []
    while let first = rest.popFirst() {
      let digits = rest.prefix(2)
      if first == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(isHexDigit),
        let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        decoded.append(byte)
        rest = rest.dropFirst(2)
      } else {
        decoded.append(first)
      }
    }
    return decoded
  }
}
