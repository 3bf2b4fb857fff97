import FetchWire
import Testing

private let request = RedirectRequest(
  method: "GET", target: "/callback?code=c&state=s", hosts: ["127.0.0.1:8914"], hasBody: false)

private let certificate = RedirectCertificate(host: "localhost", chain: Array("chain".utf8), key: Array("key".utf8))

/// All messages of a stream that comes in pieces of `step` bytes.
private func read<Message: RedirectMessage>(
  _ bytes: [UInt8], step: Int = .max, as: Message.Type
) throws -> [Message] {
  var stream = RedirectStream<Message>()
  var found: [Message] = []
  var rest = bytes[...]
  while !rest.isEmpty {
    rest.prefix(step).withUnsafeBytes { stream.append($0) }
    rest = rest.dropFirst(step)
    while let message = try stream.next() { found.append(message) }
  }
  return found
}

@Suite("What crosses between the agent and oauthd-redirect")
struct RedirectFrameTests {
  @Test(
    "Reports are read as they were written, whole and byte by byte",
    arguments: [
      (.ready, [0x21, 0, 0, 0, 0]),
      (
        .arrived(7, address: "::1", port: 8_914),
        [0x22, 0, 0, 0, 11, 0, 0, 0, 7, 0, 3, 0x3A, 0x3A, 0x31, 0x22, 0xD2]
      ),
      (
        .request(0xFFFF_FFFF, RedirectRequest(method: "GET", target: "/", hosts: ["a", "b"], hasBody: true)),
        [
          0x23, 0, 0, 0, 20, 0xFF, 0xFF, 0xFF, 0xFF, 0, 3, 0x47, 0x45, 0x54, 0, 1, 0x2F, 2, 0, 1, 0x61, 0, 1, 0x62, 1,
        ]
      ),
      (
        .request(1, RedirectRequest(method: "GET", target: "/", hosts: ["a"], hasBody: false, isForwarded: true)),
        [0x23, 0, 0, 0, 17, 0, 0, 0, 1, 0, 3, 0x47, 0x45, 0x54, 0, 1, 0x2F, 1, 0, 1, 0x61, 2]
      ),
      (.unreadable(1, .tooLarge), [0x24, 0, 0, 0, 5, 0, 0, 0, 1, 1]),
      (.gone(2), [0x25, 0, 0, 0, 4, 0, 0, 0, 2]),
      (.closed, [0x26, 0, 0, 0, 0]),
      (.failed("no"), [0x27, 0, 0, 0, 4, 0, 2, 0x6E, 0x6F]),
      (.unusable(.nameMissing), [0x28, 0, 0, 0, 9, 5, 0, 0, 0, 0, 0, 0, 0, 0]),
      (.unusable(.expired(at: 0x1_0203_0405)), [0x28, 0, 0, 0, 9, 7, 0, 0, 0, 1, 2, 3, 4, 5]),
      (.certificateEnd(0x1_0203_0405), [0x29, 0, 0, 0, 8, 0, 0, 0, 1, 2, 3, 4, 5]),
    ] as [(RedirectReport, [UInt8])])
  func reports(_ report: RedirectReport, _ bytes: [UInt8]) throws {
    #expect(try report.encoded() == bytes)
    #expect(try read(bytes + bytes, as: RedirectReport.self) == [report, report])
    #expect(try read(bytes + bytes, step: 1, as: RedirectReport.self) == [report, report])
    // The other end says nothing of that.
    #expect(throws: FetchWireError.unexpectedFrame(bytes[0])) { try read(bytes, as: RedirectOrder.self) }
  }

  @Test(
    "Orders are read as they were written, whole and byte by byte",
    arguments: [
      .begin(RedirectLimits()), .begin(RedirectLimits(), certificate), .admit(1), .refuse(2), .finish,
      .answer(3, RedirectReply(status: 303, location: "/done", page: "<p>é</p>")),
      .answer(4, RedirectReply(status: 404, location: nil, page: "")),
    ] as [RedirectOrder])
  func orders(_ order: RedirectOrder) throws {
    let bytes = try order.encoded()
    #expect(try read(bytes + bytes, as: RedirectOrder.self) == [order, order])
    #expect(try read(bytes + bytes, step: 1, as: RedirectOrder.self) == [order, order])
    #expect(throws: FetchWireError.unexpectedFrame(bytes[0])) { try read(bytes, as: RedirectReport.self) }
  }

  @Test(
    "A frame that breaks a rule is refused, and one that is too long before its bytes have come",
    arguments: [
      ([0x20], .unexpectedFrame(0x20)),
      ([0x21, 0, 0, 0, 1], .frameTooLarge),
      ([0x23, 0, 0, 0xC0, 0x41], .frameTooLarge),
      ([0x23, 0xFF, 0xFF, 0xFF, 0xFF], .frameTooLarge),
      ([0x25, 0, 0, 0, 3, 0, 0, 1], .invalid("connection")),
      ([0x24, 0, 0, 0, 5, 0, 0, 0, 1, 3], .invalid("problem")),
      ([0x28, 0, 0, 0, 9, 8, 0, 0, 0, 0, 0, 0, 0, 0], .invalid("problem")),
      ([0x28, 0, 0, 0, 9, 5, 0, 0, 0, 0, 0, 0, 0, 1], .invalid("problem")),
      ([0x28, 0, 0, 0, 9, 7, 0x80, 0, 0, 0, 0, 0, 0, 0], .invalid("date")),
      ([0x29, 0, 0, 0, 8, 0x80, 0, 0, 0, 0, 0, 0, 0], .invalid("date")),
      // A method of 33 letters, three hosts, a body that is neither yes nor no, bytes at the end.
      (
        [0x23, 0, 0, 0, 43, 0, 0, 0, 1, 0, 33] + [UInt8](repeating: 0x47, count: 33) + [0, 0, 0, 0], .invalid("method")
      ),
      ([0x23, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 3], .invalid("hosts")),
      ([0x23, 0, 0, 0, 10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 4], .invalid("flags")),
      ([0x23, 0, 0, 0, 11, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0], .invalid("bytes after the last value")),
      ([0x23, 0, 0, 0, 8, 0, 0, 0, 1, 0, 9, 0x47, 0x45], .invalid("method")),
    ] as [([UInt8], FetchWireError)])
  func refused(_ bytes: [UInt8], _ error: FetchWireError) {
    #expect(throws: error) { try read(bytes, as: RedirectReport.self) }
  }

  @Test("An order of another version, or with limits that are none, is refused")
  func foreignLimits() throws {
    var bytes = try RedirectOrder.begin(RedirectLimits()).encoded()
    bytes[5] = 1
    #expect(throws: FetchWireError.versionMismatch(1)) { try read(bytes, as: RedirectOrder.self) }
    bytes[5] = 2
    for place in 6...9 { bytes[place] = 0 }
    #expect(throws: FetchWireError.invalid("limit")) { try read(bytes, as: RedirectOrder.self) }
    for place in 6...9 { bytes[place] = 0xFF }
    #expect(throws: FetchWireError.invalid("limit")) { try read(bytes, as: RedirectOrder.self) }
  }

  @Test("The longest request crosses, a longer one is not written")
  func bounds() throws {
    var request = request
    request.target = "/" + String(repeating: "\u{FFFD}", count: (16 << 10) - 30)
    let bytes = try RedirectReport.request(1, request).encoded()
    #expect(try read(bytes, as: RedirectReport.self) == [.request(1, request)])
    request.target = String(repeating: "a", count: 3 * (16 << 10) + 64)
    #expect(throws: FetchWireError.frameTooLarge) { try RedirectReport.request(1, request).encoded() }
    #expect(throws: FetchWireError.frameTooLarge) {
      let page = String(repeating: "a", count: 1 << 16)
      return try RedirectOrder.answer(1, RedirectReply(status: 200, location: nil, page: page)).encoded()
    }
    #expect(throws: FetchWireError.invalid("status")) {
      try RedirectOrder.answer(1, RedirectReply(status: 99, location: nil, page: "")).encoded()
    }
  }

  @Test("A certificate and its key are bounded, each by itself, on both ends")
  func certificateBounds() throws {
    let longest = RedirectCertificate(
      host: String(repeating: "a", count: 253), chain: [UInt8](repeating: 1, count: 64 << 10),
      key: [UInt8](repeating: 2, count: 16 << 10))
    let order = RedirectOrder.begin(RedirectLimits(), longest)
    #expect(try read(order.encoded(), step: 4_096, as: RedirectOrder.self) == [order])
    for (part, field) in [(0, "host"), (1, "certificates"), (2, "key")] {
      for count in [0, 1 << 17] {
        let text = [UInt8](repeating: 0x61, count: count)
        let wrong = RedirectCertificate(
          host: part == 0 ? String(decoding: text, as: UTF8.self) : "localhost", chain: part == 1 ? text : [1],
          key: part == 2 ? text : [2])
        #expect(throws: FetchWireError.invalid(field)) { try RedirectOrder.begin(RedirectLimits(), wrong).encoded() }
      }
    }
    // Lengths that are not those of what follows.
    var bytes = try RedirectOrder.begin(RedirectLimits(), certificate).encoded()
    let chain = 5 + 29 + 2 + "localhost".utf8.count
    for (value, field) in [(0xFF, "certificates"), (4, "key"), (0, "key")] as [(UInt8, String)] {
      bytes[chain + 3] = value
      #expect(throws: FetchWireError.invalid(field)) { try read(bytes, as: RedirectOrder.self) }
    }
  }

  @Test("A certificate shows nothing of its key")
  func certificateShown() {
    let order = RedirectOrder.begin(RedirectLimits(), certificate)
    for text in ["\(order)", String(reflecting: order)] { #expect(!text.contains("107") && !text.contains("key:")) }
  }

  @Test("What a failed helper says is fit to show, and a request shows nothing of itself")
  func shown() throws {
    let bytes = try RedirectReport.failed("a\u{1b}[31m").encoded()
    #expect(try read(bytes, as: RedirectReport.self) == [.failed("a\\u{1b}[31m")])
    #expect(!"\(RedirectReport.request(1, request))".contains("code"))
    #expect(!String(reflecting: RedirectReport.request(1, request)).contains("code"))
  }

  @Test("No bytes make a reader trap", arguments: [21, 22, 23, 24] as [UInt64])
  func hostile(seed: UInt64) throws {
    var dice = Dice(seed)
    let streams = try [
      RedirectReport.arrived(7, address: "127.0.0.1", port: 1).encoded() + RedirectReport.request(7, request).encoded(),
      RedirectOrder.begin(RedirectLimits(), certificate).encoded() + RedirectOrder.finish.encoded(),
      RedirectOrder.answer(1, RedirectReply(status: 200, location: "/", page: "p")).encoded(),
    ]
    for _ in 0..<3_000 {
      var bytes = streams[Int.random(in: 0..<3, using: &dice)]
      for _ in 0..<Int.random(in: 1...4, using: &dice) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &dice)
        switch Int.random(in: 0..<4, using: &dice) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
        case 1: bytes[place] = [0x00, 0x7F, 0x80, 0xFF][Int.random(in: 0..<4, using: &dice)]
        case 2: bytes.remove(at: place)
        default: bytes.insert(UInt8.random(in: 0...255, using: &dice), at: place)
        }
      }
      let step = Int.random(in: 1...40, using: &dice)
      #expect(
        (try? read(bytes, as: RedirectReport.self)) == (try? read(bytes, step: step, as: RedirectReport.self)))
      #expect((try? read(bytes, as: RedirectOrder.self)) == (try? read(bytes, step: step, as: RedirectOrder.self)))
    }
  }
}
