/// The sizes of a QR code that are made here, 1 to 10 with error correction level L, and what ISO/IEC 18004 says of each.
struct QRVersion: Equatable {
  /// 1 to ``last``.
  let number: Int
  /// Codewords for error correction of each block (table 9).
  let correction: Int
  /// Codewords for data, block by block (table 9).
  let blocks: [Int]
  /// Centres of the alignment patterns in both directions (annex E).
  let alignment: [Int]

  /// Larger ones hold no more of what is read off a screen, and fill it: 57 modules a side.
  static let last = 10

  /// Modules of a side.
  var size: Int { 17 + 4 * number }

  private var dataCodewords: Int { blocks.reduce(0, +) }

  /// Bits of the length that stands before the bytes (table 3).
  var lengthBits: Int { number < 10 ? 8 : 16 }

  /// Most bytes that it takes, beside the mode's four bits and the length.
  var capacity: Int { (dataCodewords * 8 - 4 - lengthBits) / 8 }

  /// The smallest one for so many bytes; nil: there is none.
  static func smallest(for count: Int) -> QRVersion? { all.first { count <= $0.capacity } }

  static let all = [
    QRVersion(number: 1, correction: 7, blocks: [19], alignment: []),
    QRVersion(number: 2, correction: 10, blocks: [34], alignment: [6, 18]),
    QRVersion(number: 3, correction: 15, blocks: [55], alignment: [6, 22]),
    QRVersion(number: 4, correction: 20, blocks: [80], alignment: [6, 26]),
    QRVersion(number: 5, correction: 26, blocks: [108], alignment: [6, 30]),
    QRVersion(number: 6, correction: 18, blocks: [68, 68], alignment: [6, 34]),
    QRVersion(number: 7, correction: 20, blocks: [78, 78], alignment: [6, 22, 38]),
    QRVersion(number: 8, correction: 24, blocks: [97, 97], alignment: [6, 24, 42]),
    QRVersion(number: 9, correction: 30, blocks: [116, 116], alignment: [6, 26, 46]),
    QRVersion(number: 10, correction: 18, blocks: [68, 68, 69, 69], alignment: [6, 28, 50]),
  ]
}
