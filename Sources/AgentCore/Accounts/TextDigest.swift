import Sealing

/// SHA-256 over texts, each with its length: what a person was shown, in one word. No two lists of texts have the same
/// bytes.
struct TextDigest {
  private var bytes: [UInt8] = []

  /// No other digest has the same `purpose`.
  init(_ purpose: String) { add(purpose) }

  mutating func add(_ text: String?) {
    guard let text else { return bytes.append(0) }
    bytes.append(1)
    let length = UInt64(text.utf8.count)
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
    bytes += text.utf8
  }

  mutating func add(_ texts: [String]) {
    add(String(texts.count))
    for text in texts { add(text) }
  }

  /// 64 hexadecimal digits.
  var hex: String { Hex.encode(Digest.sha256(bytes)) }
}
