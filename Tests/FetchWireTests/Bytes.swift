import FetchWire

/// Streams as a test writes them: hexadecimal digits, blanks ignored.
func hex(_ text: String) -> [UInt8] {
  let digits = text.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue ?? 0) }
  return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

func frame(_ kind: UInt8, _ payload: [UInt8]) -> [UInt8] {
  [kind] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) } + payload
}

func readRequest(_ bytes: [UInt8]) throws -> FetchRequestReader.Parts? {
  var reader = FetchRequestReader()
  return try reader.all(bytes)
}

extension FetchRequestReader {
  mutating func all(_ bytes: [UInt8]) throws -> FetchRequestReader.Parts? {
    var reader = self
    defer { self = reader }
    return try bytes.withUnsafeBytes { try reader.read($0) }
  }
}

extension FetchEventReader {
  mutating func one(_ bytes: [UInt8]) throws -> FetchEvent? {
    var reader = self
    defer { self = reader }
    return try bytes.withUnsafeBytes { try reader.next($0) }
  }

  mutating func all(_ bytes: [UInt8]) throws -> [FetchEvent] {
    var events: [FetchEvent] = []
    while let event = try one(bytes) { events.append(event) }
    return events
  }
}

/// xorshift64*: the same bytes in every run.
struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed | 1 }

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }
}

let sampleRequest = FetchRequest(
  .post, "https://as.example/token", headers: [FetchField("Accept", "application/json"), FetchField("X-Empty", "")],
  hasAuthority: true, isPublicOnly: true, proxy: "http://proxy:3128", connectTimeoutMilliseconds: 5_000,
  timeoutMilliseconds: 30_000, answerBodyLimit: 1 << 20)

func sampleRequestBytes() throws -> [UInt8] {
  try FetchRequest.encoded(authority: Array("PEM".utf8)) + sampleRequest.encoded(bodyBytes: 3) + Array("a=b".utf8)
}

func sampleAnswerBytes() throws -> [UInt8] {
  try FetchFrame.header(.sent, length: 0)
    + FetchAnswer.encoded(
      status: 200, isFromPublicAddress: true, headers: [FetchField("Date", "today")], bodyBytes: 2) + Array("{}".utf8)
}
