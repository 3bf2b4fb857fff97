/// A frame: one byte of kind, four of payload length (big-endian), the payload. Each conversation has its own kinds.
package struct Frame<Kind: FrameKind>: Sendable {
  package var kind: Kind
  /// Where the payload lies in the bytes that were scanned.
  package var payload: Range<Int>

  /// The frame that starts at `offset`, or nil while it is not complete. Judges kind and length as soon as their five
  /// bytes are there, whatever follows.
  package static func scan(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FetchWireError) -> Frame? {
    guard offset >= 0, bytes.count - offset >= 1 else { return nil }
    guard let kind = Kind(rawValue: bytes[offset]) else { throw .unexpectedFrame(bytes[offset]) }
    guard bytes.count - offset >= FetchLimits.frameHeaderBytes else { return nil }
    var length = 0
    for index in 1...4 { length = length << 8 | Int(bytes[offset + index]) }
    guard length <= kind.limit else { throw .frameTooLarge }
    let start = offset + FetchLimits.frameHeaderBytes
    guard bytes.count - start >= length else { return nil }
    return Frame(kind: kind, payload: start..<(start + length))
  }

  /// The five bytes before a payload of `length` bytes; `length` must be within the kind's limit.
  package static func header(_ kind: Kind, length: Int) throws(FetchWireError) -> [UInt8] {
    guard (0...kind.limit).contains(length) else { throw .frameTooLarge }
    return [kind.rawValue] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
  }
}

/// The frames that one end may send.
package protocol FrameKind: RawRepresentable<UInt8>, Sendable {
  /// Largest payload of this kind, in bytes.
  var limit: Int { get }
}

/// The frames between the agent and `oauthd-fetch`.
package typealias FetchFrame = Frame<FetchFrameKind>

package enum FetchFrameKind: UInt8, FrameKind {
  case requestHead = 0x01
  case requestBody = 0x02
  case requestAuthority = 0x03
  case requestCertificate = 0x04
  case sent = 0x11
  case answerHead = 0x12
  case answerBody = 0x13
  case failure = 0x14
  /// As `failure`; the head and what came of the body follow.
  case answerCut = 0x15

  package var limit: Int {
    switch self {
    case .requestHead: FetchLimits.requestHeadBytes
    case .requestBody: FetchLimits.requestBodyBytes
    case .requestAuthority: FetchLimits.authorityBytes
    case .requestCertificate: FetchLimits.certificateBytes
    case .sent: 0
    case .answerHead: FetchLimits.answerHeadBytes
    case .answerBody: FetchLimits.answerBodyBytes
    case .failure, .answerCut: FetchLimits.failureBytes
    }
  }
}
