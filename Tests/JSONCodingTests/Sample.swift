/// Every kind of value that a record or a message has, and some that none has yet.
struct Sample: Codable, Equatable {
  struct Inner: Codable, Equatable {
    var flag: Bool?
    var list: [Inner]?
    var name = ""
  }
  enum Kind: String, Codable { case one, two = "tw/o" }

  var text = ""
  var maybe: String?
  var kind: Kind?
  var int = 0
  var wide: Int64?
  var unsigned: UInt64?
  var byte: UInt8?
  var double = 0.0
  var maybeDouble: Double?
  var flag = false
  var texts: [String] = []
  var numbers: [Double]?
  var table: [String: String]?
  var nested: [[Int]]?
  var inner: Inner?

  private enum CodingKeys: String, CodingKey {
    case maybe, kind, int, wide, unsigned, byte, double, flag, texts, numbers, table, nested, inner
    case text = "a_text"
    case maybeDouble = "maybe_double"
  }
}

extension Sample {
  private static let pieces = [
    "", "a", "é", "e\u{301}", "\u{0}", "\u{1}", "\u{8}", "\t", "\n", "\u{C}", "\r", "\u{1F}", "\"", "\\", "/",
    "</script>",
    "\u{7F}", "\u{85}", "\u{2028}", "\u{FEFF}", "\u{FFFF}", "😀", "👩‍👩‍👧", "x".padded,
  ]
  private static let doubles = [
    0, -0.0, 1, -1, 0.1, 1.5, 86_400, 1_700_000_000.123456, 1e15, 1e16, 1e17, 1e21, 1e-4, 1e-5, 1e-7, .pi,
    .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, 9_007_199_254_740_992, 123_456_789.5,
  ]

  private static func text(_ random: inout some RandomNumberGenerator) -> String {
    (0..<Int.random(in: 0...4, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
  }

  private static func double(_ random: inout some RandomNumberGenerator) -> Double {
    if Bool.random(using: &random) { return doubles.randomElement(using: &random) ?? 0 }
    let any = Double(bitPattern: UInt64.random(in: 0...(.max), using: &random))
    return any.isFinite ? any : 0
  }

  static func random(_ random: inout some RandomNumberGenerator) -> Sample {
    var sample = Sample()
    sample.text = text(&random)
    if Bool.random(using: &random) { sample.maybe = text(&random) }
    sample.kind = [nil, .one, .two].randomElement(using: &random) ?? nil
    sample.int = [0, -1, 7, .min, .max].randomElement(using: &random) ?? 0
    sample.wide = [nil, 0, .min, .max].randomElement(using: &random) ?? nil
    sample.unsigned = [nil, 0, .max].randomElement(using: &random) ?? nil
    sample.byte = [nil, 0, 255].randomElement(using: &random) ?? nil
    sample.double = double(&random)
    if Bool.random(using: &random) { sample.maybeDouble = double(&random) }
    sample.flag = Bool.random(using: &random)
    sample.texts = (0..<Int.random(in: 0...3, using: &random)).map { _ in text(&random) }
    if Bool.random(using: &random) { sample.numbers = (0..<3).map { _ in double(&random) } }
    if Bool.random(using: &random) {
      sample.table = [:]
      for _ in 0..<Int.random(in: 0...20, using: &random) { sample.table?[text(&random)] = text(&random) }
    }
    if Bool.random(using: &random) { sample.nested = [[], [1], [2, -3]] }
    if Bool.random(using: &random) {
      sample.inner = Inner(flag: true, list: [Inner(), Inner(list: [], name: text(&random))], name: text(&random))
    }
    return sample
  }
}

extension String {
  fileprivate var padded: String { String(repeating: self, count: 40) }
}
