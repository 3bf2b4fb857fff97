import Glibc

/// A range of addresses by its prefix: `10.0.0.0/8` (RFC 4632 §3.1), `fd00::/8` (RFC 4291 §2.3).
struct AddressRange {
  private let address: [UInt8]
  private let prefixBits: Int

  /// Nil where `text` is no range.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let address = Self.bytes(parts[0]), (1...3).contains(parts[1].utf8.count),
      parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bits = Int(parts[1]), bits <= 8 * address.count
    else { return nil }
    self.address = address
    prefixBits = bits
  }

  /// Whether `host`, as an origin spells it, is an address in the range. Nothing is resolved: a name is in none.
  func contains(_ host: String) -> Bool {
    guard let other = Self.bytes(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host),
      other.count == address.count
    else { return false }
    let (whole, bits) = (prefixBits / 8, prefixBits % 8)
    guard address[..<whole] == other[..<whole] else { return false }
    return bits == 0 || address[whole] >> (8 - bits) == other[whole] >> (8 - bits)
  }

  /// 4 or 16 bytes, in network order.
  private static func bytes(_ text: String) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if inet_pton(family, text, &bytes) == 1 { return bytes }
    }
    return nil
  }
}
