/// The frames between the agent and `oauthd-redirect`, both ways.
package enum RedirectFrameKind: UInt8, FrameKind {
  case ready = 0x21
  case arrived = 0x22
  case request = 0x23
  case unreadable = 0x24
  case gone = 0x25
  case closed = 0x26
  case failed = 0x27
  case unusable = 0x28
  case certificateEnd = 0x29

  case begin = 0x31
  case admit = 0x32
  case refuse = 0x33
  case answer = 0x34
  case finish = 0x35

  package var limit: Int {
    switch self {
    case .ready, .closed, .finish: 0
    case .admit, .refuse, .gone: 4
    case .unreadable: 5
    case .arrived: 4 + 2 + RedirectLimits.addressBytes + 2
    // A byte that is no UTF-8 becomes three.
    case .request: 3 * (16 << 10) + 64
    case .failed: 2 + FetchLimits.failureTextCharacters
    case .unusable: 1 + 8
    case .certificateEnd: 8
    case .begin:
      1 + 7 * 4 + 2 + RedirectCertificate.hostBytes + 4 + RedirectCertificate.chainBytes + 4
        + RedirectCertificate.keyBytes
    case .answer: 4 + 2 + 2 * (2 + 0xFFFF)
    }
  }
}

/// What one end of the conversation says.
package protocol RedirectMessage: Sendable {
  /// Throws for a kind that is the other end's, and for what breaks the format or a bound.
  init(_ kind: RedirectFrameKind, payload: UnsafeRawBufferPointer) throws(FetchWireError)
}

/// The receiving end: takes bytes as they come and gives whole messages. Of what is not whole it keeps one frame's worth
/// at most.
package struct RedirectStream<Message: RedirectMessage>: Sendable {
  private var bytes: [UInt8] = []
  private var offset = 0

  package init() {}

  package mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

  /// The next message, or nil while it is not whole. After it has thrown it is not to be asked again.
  package mutating func next() throws(FetchWireError) -> Message? {
    let offset = offset
    let (message, end) = try bytes.withUnsafeBytes { bytes in
      Result { () throws(FetchWireError) in try Self.message(bytes, at: offset) }
    }.get()
    self.offset = end
    if self.offset == bytes.count {
      bytes = []
      self.offset = 0
    } else if message == nil, self.offset > 0 {
      bytes.removeFirst(self.offset)
      self.offset = 0
    }
    return message
  }

  /// The message that begins at `offset`, if it is whole, and where the next one does.
  private static func message(
    _ bytes: UnsafeRawBufferPointer, at offset: Int
  ) throws(FetchWireError) -> (Message?, Int) {
    guard let frame = try Frame<RedirectFrameKind>.scan(bytes, at: offset) else { return (nil, offset) }
    let payload = UnsafeRawBufferPointer(rebasing: bytes[frame.payload])
    return (try Message(frame.kind, payload: payload), frame.payload.upperBound)
  }
}

extension PayloadWriter {
  /// A frame whose payload `body` writes. Throws when it would be longer than its kind may be.
  static func frame(
    _ kind: RedirectFrameKind, bytes size: Int, _ body: (inout PayloadWriter) -> Void = { _ in }
  ) throws(FetchWireError) -> [UInt8] {
    var writer = PayloadWriter(capacity: size + FetchLimits.frameHeaderBytes)
    writer.raw(try Frame.header(kind, length: size))
    body(&writer)
    return writer.bytes
  }
}
