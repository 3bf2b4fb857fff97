package import Sealing

/// What a person writes down: 25 random characters and 5 of checksum, in Crockford's base 32, in groups of five.
///
/// 125 random bits. The checksum tells a typing mistake from a wrong code before anything is hashed.
package struct RecoveryCode: Sendable {
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
  /// Random characters, of five bits each: 125 bits cannot be guessed.
  private static let randomCount = 25
  /// Characters of a group: as many as a person copies at a glance, and as the checksum has.
  private static let groupCount = 5

  /// The 30 characters without hyphens, upper case: what is hashed.
  let canonical: Secret

  /// A fresh code.
  package init(random: any RandomSource) {
    var symbols = random.bytes(RecoveryCode.randomCount).map { RecoveryCode.alphabet[Int($0 & 31)] }
    symbols += RecoveryCode.checksum(symbols)
    canonical = Secret(symbols)
    symbols.wipe()
  }

  /// Tells it from others, and nobody finds the code by it: it has 125 bits.
  var digest: [UInt8] { canonical.withBytes { Digest.sha256($0) } }

  /// Reads what a person typed: any case, blanks and hyphens anywhere, O for 0, I and L for 1. Nil when characters are
  /// missing, foreign or do not fit the checksum.
  package init?(typed: Secret) {
    // Longer is no code, whatever it is made of.
    guard typed.count <= 256 else { return nil }
    var symbols: [UInt8] = []
    symbols.reserveCapacity(typed.count)
    defer { symbols.wipe() }
    let isReadable = typed.withBytes { typed in
      for byte in typed {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): continue
        default:
          guard let symbol = RecoveryCode.symbol(byte) else { return false }
          symbols.append(symbol)
        }
      }
      return true
    }
    let random = symbols.prefix(RecoveryCode.randomCount)
    guard isReadable, random.count == RecoveryCode.randomCount,
      constantTimeEquals(symbols.dropFirst(random.count), RecoveryCode.checksum(random))
    else { return nil }
    canonical = Secret(symbols)
  }

  /// Six groups of five, joined by hyphens, to be shown once. Nothing wipes it.
  package func reveal() -> String {
    let symbols = Array(canonical.reveal())
    return stride(from: 0, to: symbols.count, by: RecoveryCode.groupCount)
      .map { String(symbols[$0..<min($0 + RecoveryCode.groupCount, symbols.count)]) }
      .joined(separator: "-")
  }

  private static func symbol(_ typed: UInt8) -> UInt8? {
    let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(typed) ? typed - 32 : typed
    switch upper {
    case UInt8(ascii: "O"): return UInt8(ascii: "0")
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return UInt8(ascii: "1")
    default: return alphabet.contains(upper) ? upper : nil
    }
  }

  /// The first 25 bits of a SHA-256, as five characters.
  private static func checksum(_ symbols: some Collection<UInt8>) -> [UInt8] {
    let digest = Digest.sha256(Array("oauthctl recovery code 1:".utf8) + symbols)
    let bits = digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return (0..<5).map { alphabet[Int(bits >> (27 - 5 * UInt32($0)) & 31)] }
  }
}

extension RecoveryCode: CustomStringConvertible, CustomReflectable {
  package var description: String { "<recovery code>" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
