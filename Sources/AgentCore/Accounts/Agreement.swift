import AgentWire
import Sealing

/// What a person agrees to: the binding that results, and how it differs from what there is, as both were shown. Where a
/// change comes from counts, too: whoever said yes to "A → B" has not agreed that B gets what is C's by now.
struct Agreement {
  let binding: DefinitionBinding
  let differences: [DefinitionDifference]

  /// SHA-256 in hex over the binding's digest and every difference, each text with its length.
  var digest: String {
    let texts = [binding.digest] + differences.flatMap { [$0.key, $0.was, $0.now] }
    let bytes = texts.flatMap { text in
      let count = UInt64(text.utf8.count)
      return (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) } + Array(text.utf8)
    }
    return Hex.encode(Digest.sha256(Array("oauthctl agreement 1".utf8) + bytes))
  }
}
