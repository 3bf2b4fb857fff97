extension FetchFailure {
  /// The whole failure frame, or, where head and body of the answer follow, the frame before those.
  package func encoded(as kind: FetchFrameKind = .failure) throws(FetchWireError) -> [UInt8] {
    let size = 1 + 2 + text.utf8.count
    var writer = PayloadWriter(capacity: size + FetchLimits.frameHeaderBytes)
    writer.raw(try FetchFrame.header(kind, length: size))
    writer.integer(Int(reason.rawValue), bytes: 1)
    writer.text(text)
    return writer.bytes
  }

  init(payload: UnsafeRawBufferPointer) throws(FetchWireError) {
    var reader = PayloadReader(payload)
    guard let reason = Reason(rawValue: UInt8(truncatingIfNeeded: try reader.integer(bytes: 1, "reason"))) else {
      throw .invalid("reason")
    }
    self.init(reason, try reader.text("failure text"))
    try reader.end()
  }
}

extension FetchAnswer {
  /// The bytes up to the body: the head frame and the header of the body frame.
  package static func encoded(
    status: Int, isFromPublicAddress: Bool, headers: [FetchField], bodyBytes: Int
  ) throws(FetchWireError) -> [UInt8] {
    guard (100...999).contains(status) else { throw .invalid("status") }
    guard headers.count <= FetchLimits.headerFields else { throw .invalid("header fields") }
    let size = 2 + 1 + PayloadWriter.size(of: headers)
    let head = try FetchFrame.header(.answerHead, length: size)
    let body = try FetchFrame.header(.answerBody, length: bodyBytes)
    var writer = PayloadWriter(capacity: size + head.count + body.count)
    writer.raw(head)
    writer.integer(status, bytes: 2)
    writer.integer(isFromPublicAddress ? 1 : 0, bytes: 1)
    writer.fields(headers)
    writer.raw(body)
    return writer.bytes
  }

  /// Reads the payload of a head frame; the body is set when its frame is complete.
  init(payload: UnsafeRawBufferPointer) throws(FetchWireError) {
    var reader = PayloadReader(payload)
    let status = try reader.integer(bytes: 2, "status")
    guard (100...999).contains(status) else { throw .invalid("status") }
    let network = try reader.integer(bytes: 1, "network")
    guard network <= 1 else { throw .invalid("network") }
    let headers = try reader.fields()
    guard headers.allSatisfy(\.hasValidName) else { throw .invalid("header name") }
    // NUL and line breaks have no place in a field (RFC 9110 §5.5); anything else is left to whoever shows it.
    guard headers.allSatisfy({ !$0.value.utf8.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D } }) else {
      throw .invalid("header value")
    }
    try reader.end()
    self.init(status: status, isFromPublicAddress: network == 1, headers: headers, body: 0..<0)
  }
}

/// The agent's end of the answer: feed it the growing buffer until it returns an answer or a failure.
package struct FetchEventReader {
  /// Whether `sent` was read.
  package private(set) var sent = false
  private var cut: FetchFailure?
  private var head: FetchAnswer?
  private var finished = false
  private var offset = 0

  package init() {}

  /// The next event, or nil while more bytes are needed. `bytes` always starts at the first byte of the stream. Throws
  /// for anything out of order, above its limit or behind the end; after that call it no more.
  package mutating func next(_ bytes: UnsafeRawBufferPointer) throws(FetchWireError) -> FetchEvent? {
    while let frame = try FetchFrame.scan(bytes, at: offset) {
      let payload = UnsafeRawBufferPointer(rebasing: bytes[frame.payload])
      let event: FetchEvent?
      switch frame.kind {
      case .sent where !sent && head == nil && !finished:
        sent = true
        event = .sent
      case .answerCut where sent && cut == nil && head == nil && !finished:
        cut = try FetchFailure(payload: payload)
        event = nil
      case .answerHead where head == nil && !finished:
        head = try FetchAnswer(payload: payload)
        head?.cut = cut
        event = nil
      case .answerBody where !finished:
        guard var answer = head else { throw .unexpectedFrame(frame.kind.rawValue) }
        answer.body = frame.payload
        finished = true
        event = .answer(answer)
      case .failure where head == nil && !finished:
        finished = true
        event = .failure(try FetchFailure(payload: payload))
      default:
        throw .unexpectedFrame(frame.kind.rawValue)
      }
      offset = frame.payload.upperBound
      if let event { return event }
    }
    return nil
  }
}
