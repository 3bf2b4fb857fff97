/// A QR code (ISO/IEC 18004) of a short text: byte mode, error correction level L, since nothing damages a screen.
struct QRCode: Equatable {
  /// Modules of a side, without the light margin.
  let size: Int
  /// Row by row; true is dark.
  private(set) var modules: [Bool]
  /// 0 to 7.
  let mask: Int

  /// Modules of light margin on each side that readers need (§5.3.8).
  static let margin = 4

  /// Nil: `text` is longer than the largest one holds, 271 bytes. `mask` is the one that makes the code easiest to read,
  /// where none is given.
  init?(_ text: String, mask: Int? = nil) {
    let bytes = Array(text.utf8)
    guard let version = QRVersion.smallest(for: bytes.count) else { return nil }
    var canvas = QRCanvas(version)
    canvas.place(QRCodewords.make(bytes, version))
    let candidates = (mask.map { [$0] } ?? Array(0..<8)).map { (mask: $0, modules: canvas.finished(mask: $0)) }
    let best = candidates.map { ($0, QRPenalty.points(of: $0.modules, size: version.size)) }.min { $0.1 < $1.1 }
    guard let best else { return nil }
    (size, modules, self.mask) = (version.size, best.0.modules, best.0.mask)
  }

  /// Lines of half blocks, two rows of modules each, margin included. What is light is drawn, for light letters on a dark
  /// ground.
  var lines: [String] {
    let range = -Self.margin..<size + Self.margin
    return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
      range.map { column in
        switch (isLight(row, column), isLight(row + 1, column)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }.joined()
    }
  }

  /// Columns that ``lines`` take.
  var width: Int { size + 2 * Self.margin }

  private func isLight(_ row: Int, _ column: Int) -> Bool {
    guard (0..<size).contains(row), (0..<size).contains(column) else { return true }
    return !modules[row * size + column]
  }
}
