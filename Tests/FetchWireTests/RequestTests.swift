import FetchWire
import Testing

@Suite("A request on the pipe")
struct RequestTests {
  @Test("A request is written in the documented bytes")
  func vector() throws {
    let request = FetchRequest(
      .get, "https://a/", headers: [FetchField("N", "v")], connectTimeoutMilliseconds: 1, timeoutMilliseconds: 2,
      answerBodyLimit: 3)
    let expected = hex(
      """
      01 00000027  05 01 00000001 00000002 00000003  00 00 00
      000a 68747470733a2f2f612f  0000  0001 0001 4e 0001 76
      02 00000000
      """)
    var bytes = try request.encoded(bodyBytes: 0)
    #expect(bytes == expected)
    let read = try readRequest(bytes)
    #expect(read?.request == request)
    wipe(&bytes)
    #expect(bytes.allSatisfy { $0 == 0 })
  }

  @Test("Every field survives, and the body lies where the reader says")
  func roundTrip() throws {
    let bytes = try sampleRequestBytes()
    let read = try #require(try readRequest(bytes))
    #expect(read.request == sampleRequest)
    #expect(Array(bytes[read.body]) == Array("a=b".utf8))
    #expect(read.authority.map { Array(bytes[$0]) } == Array("PEM".utf8))
  }

  @Test("A request that arrives byte by byte is complete with its last byte, not before")
  func incremental() throws {
    let bytes = try sampleRequestBytes()
    var reader = FetchRequestReader()
    for length in 0..<bytes.count { #expect(try reader.all(Array(bytes[..<length])) == nil) }
    #expect(try reader.all(bytes)?.request == sampleRequest)
  }

  @Test("A byte behind the request is refused")
  func trailingByte() throws {
    let bytes = try sampleRequestBytes() + [0]
    #expect(throws: FetchWireError.invalid("bytes after the request")) { try readRequest(bytes) }
  }

  @Test("Another version's request is refused by its number")
  func version() throws {
    var bytes = try sampleRequestBytes()
    // Behind the authority's frame.
    bytes[2 * FetchLimits.frameHeaderBytes + 3] = 9
    #expect(throws: FetchWireError.versionMismatch(9)) { try readRequest(bytes) }
  }

  @Test(
    "What must not reach a socket is refused by both ends",
    arguments: [
      ("url", FetchRequest(.get, "https://a/\r\nHost: b")), ("url", FetchRequest(.get, "https://a/ b")),
      ("url", FetchRequest(.get, "file:///etc/passwd")), ("url", FetchRequest(.get, "")),
      ("url", FetchRequest(.get, "https://\u{e9}/")),
      ("url", FetchRequest(.get, "https://" + String(repeating: "a", count: 9_000))),
      ("header name", FetchRequest(.get, "https://a/", headers: [FetchField("", "v")])),
      ("header name", FetchRequest(.get, "https://a/", headers: [FetchField("A B", "v")])),
      ("header name", FetchRequest(.get, "https://a/", headers: [FetchField("A:", "v")])),
      ("header name", FetchRequest(.get, "https://a/", headers: [FetchField("Content-Length", "0")])),
      ("header name", FetchRequest(.get, "https://a/", headers: [FetchField("hOST", "b")])),
      ("header value", FetchRequest(.get, "https://a/", headers: [FetchField("A", "v\nB: w")])),
      ("header value", FetchRequest(.get, "https://a/", headers: [FetchField("A", "\0")])),
      ("header fields", FetchRequest(.get, "https://a/", headers: Array(repeating: FetchField("A", "v"), count: 257))),
      ("proxy", FetchRequest(.get, "https://a/", proxy: "http://p\r\n")),
      ("connect timeout", FetchRequest(.get, "https://a/", connectTimeoutMilliseconds: 0)),
      ("timeout", FetchRequest(.get, "https://a/", timeoutMilliseconds: 600_001)),
      ("answer body limit", FetchRequest(.get, "https://a/", answerBodyLimit: (1 << 20) + 1)),
    ])
  func refused(what: String, request: FetchRequest) {
    #expect(throws: FetchWireError.invalid(what)) { try request.encoded(bodyBytes: 0) }
  }

  @Test("A forbidden field that a broken agent encodes is refused by the helper")
  func refusedOnReading() {
    // The head of the vector with its only header named `Host`.
    let payload = hex(
      """
      05 01 00000001 00000002 00000003 00 00 00 000a 68747470733a2f2f612f 0000
      0001 0004 486f7374 0001 76
      """)
    #expect(throws: FetchWireError.invalid("header name")) { try readRequest(frame(0x01, payload)) }
  }

  @Test("The authority is written in the documented bytes, before the head")
  func authority() throws {
    let authority = try FetchRequest.encoded(authority: Array("PEM".utf8))
    #expect(authority == hex("03 00000003 50454d"))
    let plain = FetchRequest(.get, "https://a/")
    let named = FetchRequest(.get, "https://a/", hasAuthority: true)
    #expect(try readRequest(plain.encoded(bodyBytes: 0))?.authority == nil)
    #expect(try readRequest(authority + named.encoded(bodyBytes: 0))?.authority == 5..<8)
  }

  @Test("An authority that is announced and does not come, comes unannounced, twice, late or empty, is refused")
  func strayAuthority() throws {
    let authority = try FetchRequest.encoded(authority: Array("PEM".utf8))
    let plain = try FetchRequest(.get, "https://a/").encoded(bodyBytes: 0)
    let named = try FetchRequest(.get, "https://a/", hasAuthority: true).encoded(bodyBytes: 0)
    for bytes in [named, authority + plain, frame(0x03, []) + named, frame(0x03, []) + plain] {
      #expect(throws: FetchWireError.invalid("authority")) { try readRequest(bytes) }
    }
    #expect(throws: FetchWireError.unexpectedFrame(3)) { try readRequest(authority + authority + named) }
    #expect(throws: FetchWireError.invalid("bytes after the request")) { try readRequest(plain + authority) }
    #expect(throws: FetchWireError.invalid("authority")) { try FetchRequest.encoded(authority: []) }
    let large = [UInt8](repeating: 0x61, count: FetchLimits.authorityBytes + 1)
    #expect(throws: FetchWireError.frameTooLarge) { try FetchRequest.encoded(authority: large) }
    #expect(throws: FetchWireError.frameTooLarge) { try readRequest(frame(0x03, large)) }
  }

  @Test(
    "The client's certificate comes between the authority and the head, announced, once and bounded, over https alone")
  func certificate() throws {
    let text = Array("KEY".utf8)
    let certificate = try FetchRequest.certificateHeader(bytes: text.count) + text
    #expect(certificate == hex("04 00000003 4b4559"))
    let authority = try FetchRequest.encoded(authority: Array("PEM".utf8))
    let plain = try FetchRequest(.get, "https://a/").encoded(bodyBytes: 0)
    let shown = try FetchRequest(.get, "https://a/", hasCertificate: true).encoded(bodyBytes: 0)
    let both = try FetchRequest(.get, "https://a/", hasAuthority: true, hasCertificate: true).encoded(bodyBytes: 0)
    #expect(try readRequest(plain)?.certificate == nil)
    #expect(try readRequest(certificate + shown)?.certificate == 5..<8)
    #expect(try readRequest(authority + certificate + both)?.certificate == 13..<16)
    for bytes in [shown, certificate + plain, frame(0x04, []) + shown] {
      #expect(throws: FetchWireError.invalid("certificate")) { try readRequest(bytes) }
    }
    for bytes in [certificate + certificate + shown, certificate + authority + both] {
      #expect(throws: FetchWireError.self) { try readRequest(bytes) }
    }
    #expect(throws: FetchWireError.invalid("certificate")) { try FetchRequest.certificateHeader(bytes: 0) }
    #expect(throws: FetchWireError.frameTooLarge) {
      try FetchRequest.certificateHeader(bytes: FetchLimits.certificateBytes + 1)
    }
    #expect(throws: FetchWireError.invalid("certificate")) {
      try FetchRequest(.get, "http://127.0.0.1/", hasCertificate: true).encoded(bodyBytes: 0)
    }
  }

  @Test("Heads and bodies above their limit are refused", arguments: [0, FetchLimits.requestBodyBytes + 1])
  func tooLarge(bodyBytes: Int) {
    let large = bodyBytes == 0 ? Array(repeating: FetchField("A", String(repeating: "v", count: 60_000)), count: 2) : []
    let request = FetchRequest(.post, "https://a/", headers: large)
    #expect(throws: FetchWireError.frameTooLarge) { try request.encoded(bodyBytes: bodyBytes) }
  }
}
