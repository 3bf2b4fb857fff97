/// The codewords of a QR code: the bytes in byte mode, with error correction, in the order they are placed
/// (ISO/IEC 18004 §7.4 to §7.6).
enum QRCodewords {
  /// `bytes` has at most ``QRVersion/capacity`` of them.
  static func make(_ bytes: [UInt8], _ version: QRVersion) -> [UInt8] {
    var rest = data(bytes, version)[...]
    let blocks = version.blocks.map { count in
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    let generator = generator(degree: version.correction)
    let corrections = blocks.map { remainder(of: $0, by: generator) }
    return interleaved(blocks) + interleaved(corrections)
  }

  /// Mode, length, bytes, up to four zero bits, and padding.
  private static func data(_ bytes: [UInt8], _ version: QRVersion) -> [UInt8] {
    var bits: [Bool] = []
    func append(_ value: Int, _ count: Int) { for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) } }
    append(0b0100, 4)
    append(bytes.count, version.lengthBits)
    for byte in bytes { append(Int(byte), 8) }
    let room = version.blocks.reduce(0, +)
    append(0, min(4, room * 8 - bits.count))
    append(0, (8 - bits.count % 8) % 8)
    var codewords = stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
    }
    // The two that the standard names, in turn.
    for index in 0..<room - codewords.count { codewords.append(index % 2 == 0 ? 0xEC : 0x11) }
    return codewords
  }

  /// The first of each block, then the second of each: blocks of unequal length end unequally.
  private static func interleaved(_ blocks: [[UInt8]]) -> [UInt8] {
    (0..<(blocks.map(\.count).max() ?? 0)).flatMap { place in
      blocks.compactMap { place < $0.count ? $0[place] : nil }
    }
  }

  // MARK: Reed-Solomon

  /// Multiplication in GF(2⁸) modulo x⁸ + x⁴ + x³ + x² + 1.
  private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
    var product: UInt8 = 0
    for bit in (0..<8).reversed() {
      product = product << 1 ^ (product >> 7) * 0x1D
      if right >> UInt8(bit) & 1 == 1 { product ^= left }
    }
    return product
  }

  /// (x - 1)(x - 2)(x - 4)… without its first coefficient, which is 1.
  private static func generator(degree: Int) -> [UInt8] {
    var coefficients = [UInt8](repeating: 0, count: degree - 1) + [1]
    var root: UInt8 = 1
    for _ in 0..<degree {
      for place in 0..<degree {
        coefficients[place] = product(coefficients[place], root)
        if place + 1 < degree { coefficients[place] ^= coefficients[place + 1] }
      }
      root = product(root, 2)
    }
    return coefficients
  }

  private static func remainder(of data: [UInt8], by generator: [UInt8]) -> [UInt8] {
    var remainder = [UInt8](repeating: 0, count: generator.count)
    for byte in data {
      let factor = byte ^ remainder.removeFirst()
      remainder.append(0)
      for (place, coefficient) in generator.enumerated() { remainder[place] ^= product(coefficient, factor) }
    }
    return remainder
  }
}
