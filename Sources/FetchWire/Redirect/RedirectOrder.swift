/// What a browser is shown.
package struct RedirectReply: Equatable, Sendable {
  package var status: Int
  /// Where the browser is sent on to.
  package var location: String?
  /// HTML.
  package var page: String

  package init(status: Int, location: String?, page: String) {
    self.status = status
    self.location = location
    self.page = page
  }
}

/// What the agent tells `oauthd-redirect`. A number that has no connection any more is passed over.
package enum RedirectOrder: Equatable {
  /// The first one. With a certificate browsers speak TLS.
  case begin(RedirectLimits, RedirectCertificate? = nil)
  /// The connection is our own user's: his request is read.
  case admit(UInt32)
  /// It is not, and is closed.
  case refuse(UInt32)
  case answer(UInt32, RedirectReply)
  /// To close the listening socket and what has no answer, to let the others take theirs, and to end.
  case finish
}

extension RedirectOrder: RedirectMessage {
  package init(_ kind: RedirectFrameKind, payload: UnsafeRawBufferPointer) throws(FetchWireError) {
    var reader = PayloadReader(payload)
    switch kind {
    case .begin:
      let limits = try RedirectLimits(payload: &reader)
      self = .begin(limits, reader.isAtEnd ? nil : try RedirectCertificate(payload: &reader))
    case .admit: self = .admit(try reader.number())
    case .refuse: self = .refuse(try reader.number())
    case .answer:
      let connection = try reader.number()
      let status = try reader.integer(bytes: 2, "status")
      let location = try reader.text("location")
      let page = try reader.text("page")
      self = .answer(
        connection, RedirectReply(status: status, location: location.isEmpty ? nil : location, page: page))
      guard (200...599).contains(status) else { throw .invalid("status") }
    case .finish: self = .finish
    case .ready, .arrived, .request, .unreadable, .gone, .closed, .failed, .unusable, .certificateEnd:
      throw .unexpectedFrame(kind.rawValue)
    }
    try reader.end()
  }

  package func encoded() throws(FetchWireError) -> [UInt8] {
    switch self {
    case .begin(let limits, let certificate):
      try certificate?.validate()
      return try PayloadWriter.frame(.begin, bytes: 1 + 4 * limits.values.count + (certificate?.size ?? 0)) {
        limits.write(to: &$0)
        certificate?.write(to: &$0)
      }
    case .admit(let connection):
      return try PayloadWriter.frame(.admit, bytes: 4) { $0.integer(Int(connection), bytes: 4) }
    case .refuse(let connection):
      return try PayloadWriter.frame(.refuse, bytes: 4) { $0.integer(Int(connection), bytes: 4) }
    case .answer(let connection, let reply):
      let location = reply.location ?? ""
      guard (200...599).contains(reply.status) else { throw .invalid("status") }
      guard max(location.utf8.count, reply.page.utf8.count) <= 0xFFFF else { throw .frameTooLarge }
      return try PayloadWriter.frame(.answer, bytes: 4 + 2 + 2 + location.utf8.count + 2 + reply.page.utf8.count) {
        $0.integer(Int(connection), bytes: 4)
        $0.integer(reply.status, bytes: 2)
        $0.text(location)
        $0.text(reply.page)
      }
    case .finish: return try PayloadWriter.frame(.finish, bytes: 0)
    }
  }
}
