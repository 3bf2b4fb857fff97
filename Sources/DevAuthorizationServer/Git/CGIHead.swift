package import OAuthProtocol

/// The head of what a CGI program answers (RFC 3875 §6.3), read from the first bytes of its output.
package struct CGIHead: Sendable, Equatable {
  /// Longest head: 16 KiB.
  package static let byteLimit = 16 << 10

  package var status: Int
  /// All but `Status`.
  package var headers: [HTTPField]
  /// Where the body begins.
  package var bodyOffset: Int

  package enum Reading: Sendable, Equatable {
    /// The blank line has not come yet.
    case incomplete
    case complete(CGIHead)
    /// Too long, or not a head.
    case malformed
  }

  /// Lines end in LF or CRLF; without a `Status` line the status is 200.
  package static func read(_ bytes: [UInt8]) -> Reading {
    var status = 200
    var headers: [HTTPField] = []
    var offset = 0
    while let end = bytes[offset...].firstIndex(of: UInt8(ascii: "\n")) {
      guard end < byteLimit else { return .malformed }
      var line = bytes[offset..<end]
      offset = end + 1
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if line.isEmpty { return .complete(CGIHead(status: status, headers: headers, bodyOffset: offset)) }
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
        let name = String(validating: line[..<colon], as: UTF8.self),
        let value = String(validating: line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
      else { return .malformed }
      let field = HTTPField(name, value)
      guard field.isSendable, headers.count < 64 else { return .malformed }
      if name.lowercased() == "status" {
        guard let number = Int(value.prefix(3)), (200...599).contains(number) else { return .malformed }
        status = number
      } else {
        headers.append(field)
      }
    }
    return bytes.count > byteLimit ? .malformed : .incomplete
  }
}
