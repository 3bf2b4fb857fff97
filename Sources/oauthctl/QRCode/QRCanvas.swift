/// The square on which the parts of a QR code are drawn (ISO/IEC 18004 §6.3, §7.7 to §7.10).
struct QRCanvas {
  private let version: QRVersion
  private var dark: [Bool]
  /// Modules that stand for no codeword, and that no mask changes.
  private var isFixed: [Bool]

  private var size: Int { version.size }

  init(_ version: QRVersion) {
    self.version = version
    let count = version.size * version.size
    dark = Array(repeating: false, count: count)
    isFixed = Array(repeating: false, count: count)
    drawPatterns()
  }

  private mutating func fix(_ row: Int, _ column: Int, _ isDark: Bool) {
    guard (0..<size).contains(row), (0..<size).contains(column) else { return }
    dark[row * size + column] = isDark
    isFixed[row * size + column] = true
  }

  private mutating func drawPatterns() {
    for place in 0..<size {
      fix(6, place, place % 2 == 0)
      fix(place, 6, place % 2 == 0)
    }
    // A finder has light around it: the fourth ring.
    for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] {
      for down in -4...4 {
        for right in -4...4 {
          let ring = max(abs(down), abs(right))
          fix(row + down, column + right, ring != 2 && ring != 4)
        }
      }
    }
    let last = version.alignment.last
    for row in version.alignment {
      for column in version.alignment {
        // Where the finders are.
        if (row == 6 && column == 6) || (row == 6 && column == last) || (row == last && column == 6) { continue }
        for down in -2...2 {
          for right in -2...2 { fix(row + down, column + right, max(abs(down), abs(right)) != 1) }
        }
      }
    }
    drawFormat(mask: 0)
    drawVersion()
  }

  /// Level and mask, twice (§7.9).
  private mutating func drawFormat(mask: Int) {
    let level = 0b01
    let value = level << 3 | mask
    let bits = (value << 10 | Self.remainder(of: value, bits: 10, by: 0x537)) ^ 0x5412
    func bit(_ place: Int) -> Bool { bits >> place & 1 == 1 }
    for place in 0...5 { fix(place, 8, bit(place)) }
    fix(7, 8, bit(6))
    fix(8, 8, bit(7))
    fix(8, 7, bit(8))
    for place in 9..<15 { fix(8, 14 - place, bit(place)) }
    for place in 0..<8 { fix(8, size - 1 - place, bit(place)) }
    for place in 8..<15 { fix(size - 15 + place, 8, bit(place)) }
    fix(size - 8, 8, true)
  }

  /// From version 7 on, twice (§7.10).
  private mutating func drawVersion() {
    guard version.number >= 7 else { return }
    let bits = version.number << 12 | Self.remainder(of: version.number, bits: 12, by: 0x1F25)
    for place in 0..<18 {
      let isDark = bits >> place & 1 == 1
      fix(size - 11 + place % 3, place / 3, isDark)
      fix(place / 3, size - 11 + place % 3, isDark)
    }
  }

  /// `value` shifted by `bits`, divided by a polynomial of that degree.
  private static func remainder(of value: Int, bits: Int, by polynomial: Int) -> Int {
    var rest = value
    for _ in 0..<bits { rest = rest << 1 ^ (rest >> (bits - 1)) * polynomial }
    return rest
  }

  /// In columns of two, from the right, upwards and downwards in turn, around the vertical timing pattern (§7.7.3).
  mutating func place(_ codewords: [UInt8]) {
    var bit = 0
    for pair in stride(from: size - 1, to: 0, by: -2).map({ $0 <= 6 ? $0 - 1 : $0 }) {
      let isUpward = (pair + 1) & 2 == 0
      for step in 0..<size {
        let row = isUpward ? size - 1 - step : step
        for column in [pair, pair - 1] where !isFixed[row * size + column] {
          guard bit < codewords.count * 8 else { return }
          dark[row * size + column] = codewords[bit / 8] >> UInt8(7 - bit % 8) & 1 == 1
          bit += 1
        }
      }
    }
  }

  /// The modules with one of the eight masks (§7.8.2).
  func finished(mask: Int) -> [Bool] {
    var canvas = self
    canvas.drawFormat(mask: mask)
    for row in 0..<size {
      for column in 0..<size where !isFixed[row * size + column] && Self.flips(mask, row, column) {
        canvas.dark[row * size + column].toggle()
      }
    }
    return canvas.dark
  }

  private static func flips(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
    switch mask {
    case 0: (row + column) % 2 == 0
    case 1: row % 2 == 0
    case 2: column % 3 == 0
    case 3: (row + column) % 3 == 0
    case 4: (row / 2 + column / 3) % 2 == 0
    case 5: row * column % 2 + row * column % 3 == 0
    case 6: (row * column % 2 + row * column % 3) % 2 == 0
    default: ((row + column) % 2 + row * column % 3) % 2 == 0
    }
  }
}
