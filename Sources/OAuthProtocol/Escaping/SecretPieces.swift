import Sealing

/// Looks for secrets in texts on behalf of ``RequestSecrets``: for each piece of eight bytes of each spelling of each
/// secret, folded; for short secrets whole.
///
/// The pieces of the texts are kept and the secrets slid over them, not the other way round: a text is short, is looked
/// at with every token that is refreshed, and no secret is spread over a table.
struct SecretPieces {
  private static let bytes = RequestSecrets.pieceBytes

  private let texts: [[UInt8]]
  /// A bit for each piece of a text: most pieces of secrets end here.
  private var filter = [UInt64](repeating: 0, count: 1 << 10)
  private var pieces: Set<UInt64> = []
  private var found: Set<UInt64> = []
  private var short: [[UInt8]] = []

  init(of secrets: [Secret], in views: [UnescapedText]) {
    texts = views.map { $0.bytes.map(Self.fold) }
    for text in texts {
      Self.slide(over: text) { piece, _ in
        pieces.insert(piece)
        filter[Self.slot(piece) >> 6] |= 1 << UInt64(Self.slot(piece) & 63)
      }
    }
    for secret in secrets where secret.count >= RequestSecrets.leastBytes {
      secret.withBytes { bytes in
        look(for: Array(bytes))
        look(for: bytes.filter(UnescapedText.isLetterOrDigit))
        if bytes.contains(where: { $0 >= 0x80 }) { look(for: bytes.filter(UnescapedText.isASCIILetterOrDigit)) }
        look(for: Base64Text.hexadecimal(bytes))
        for shift in 0..<3 { look(for: Base64Text.inner(bytes, shift: shift)) }
      }
    }
  }

  /// Whether there is anything to look further for.
  var isEmpty: Bool { found.isEmpty && short.isEmpty }

  private mutating func look(for spelling: [UInt8]) {
    let folded = spelling.map(Self.fold)
    guard folded.count >= Self.bytes else {
      if folded.count >= RequestSecrets.leastBytes { short.append(folded) }
      return
    }
    Self.slide(over: folded) { piece, _ in
      let slot = Self.slot(piece)
      guard filter[slot >> 6] & 1 << UInt64(slot & 63) != 0, pieces.contains(piece) else { return }
      found.insert(piece)
    }
  }

  /// Marks, in the text that `views` were made from, what belongs to a secret.
  func mark(in views: [UnescapedText], _ marks: inout [Bool]) {
    for (view, text) in zip(views, texts) {
      func mark(_ range: Range<Int>) {
        for source in view.sources[range] { for at in source { marks[at] = true } }
      }
      Self.slide(over: text) { piece, end in
        if found.contains(piece) { mark((end - Self.bytes)..<end) }
      }
      for secret in short where text.count >= secret.count {
        for start in 0...(text.count - secret.count) where text[start..<(start + secret.count)].elementsEqual(secret) {
          mark(start..<(start + secret.count))
        }
      }
    }
  }

  /// Calls `body` with each eight bytes in a row as a number, and the index behind them.
  private static func slide(over text: [UInt8], _ body: (UInt64, Int) -> Void) {
    var piece: UInt64 = 0
    for (index, byte) in text.enumerated() {
      // The oldest of eight bytes falls out at the top.
      piece = piece << 8 | UInt64(byte)
      if index + 1 >= bytes { body(piece, index + 1) }
    }
  }

  private static func slot(_ piece: UInt64) -> Int { Int((piece &* 0x9E37_79B9_7F4A_7C15) >> 48) }

  /// Letters in one case, and the two alphabets of base 64 in one.
  private static func fold(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
    case UInt8(ascii: "-"): UInt8(ascii: "+")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: byte
    }
  }
}
