/// A browser's request, as `oauthd-redirect` has parsed it. Nothing in it is judged yet.
package struct RedirectRequest: Equatable, Sendable {
  package var method: String
  /// The request target, path and query, as sent.
  package var target: String
  /// The `Host` fields: none, one, or the first two of more.
  package var hosts: [String]
  package var hasBody: Bool
  /// A proxy has sent it on, and says so.
  package var isForwarded: Bool

  package init(method: String, target: String, hosts: [String], hasBody: Bool, isForwarded: Bool = false) {
    self.method = method
    self.target = target
    self.hosts = hosts
    self.hasBody = hasBody
    self.isForwarded = isForwarded
  }
}

/// What `oauthd-redirect` tells the agent. Connections have numbers, each for one.
package enum RedirectReport: Equatable {
  /// It has restricted itself, and takes connections.
  case ready
  /// Somebody has connected from this address; no byte of him is read before the agent admits him.
  case arrived(UInt32, address: String, port: UInt16)
  case request(UInt32, RedirectRequest)
  case unreadable(UInt32, Problem)
  /// The connection has ended, answered or not.
  case gone(UInt32)
  /// Nobody can connect any more.
  case closed
  /// It cannot do its work, and ends.
  case failed(String)
  /// The same, because of its certificate.
  case unusable(RedirectCertificateProblem)
  /// Before ``ready``: until when browsers take its certificate, within ``RedirectCertificateProblem/dates``.
  case certificateEnd(Int)

  /// Why there is no request.
  package enum Problem: UInt8, Sendable {
    case tooLarge = 1
    case malformed = 2
  }
}

extension RedirectReport: RedirectMessage {
  package init(_ kind: RedirectFrameKind, payload: UnsafeRawBufferPointer) throws(FetchWireError) {
    var reader = PayloadReader(payload)
    switch kind {
    case .ready: self = .ready
    case .arrived:
      let connection = try reader.number()
      let address = try reader.text("address")
      self = .arrived(connection, address: address, port: UInt16(try reader.integer(bytes: 2, "port")))
    case .request: self = .request(try reader.number(), try RedirectRequest(payload: &reader))
    case .unreadable:
      let connection = try reader.number()
      guard let problem = Problem(rawValue: UInt8(try reader.integer(bytes: 1, "problem"))) else {
        throw .invalid("problem")
      }
      self = .unreadable(connection, problem)
    case .gone: self = .gone(try reader.number())
    case .closed: self = .closed
    case .failed: self = .failed(plainText(try reader.text("failure text")))
    case .unusable: self = .unusable(try RedirectCertificateProblem(payload: &reader))
    case .certificateEnd: self = .certificateEnd(try reader.certificateDate())
    case .begin, .admit, .refuse, .answer, .finish: throw .unexpectedFrame(kind.rawValue)
    }
    try reader.end()
  }

  package func encoded() throws(FetchWireError) -> [UInt8] {
    switch self {
    case .ready: return try PayloadWriter.frame(.ready, bytes: 0)
    case .arrived(let connection, let address, let port):
      return try PayloadWriter.frame(.arrived, bytes: 4 + 2 + address.utf8.count + 2) {
        $0.integer(Int(connection), bytes: 4)
        $0.text(address)
        $0.integer(Int(port), bytes: 2)
      }
    case .request(let connection, let request):
      try request.validate()
      return try PayloadWriter.frame(.request, bytes: 4 + request.size) {
        $0.integer(Int(connection), bytes: 4)
        request.write(to: &$0)
      }
    case .unreadable(let connection, let problem):
      return try PayloadWriter.frame(.unreadable, bytes: 5) {
        $0.integer(Int(connection), bytes: 4)
        $0.integer(Int(problem.rawValue), bytes: 1)
      }
    case .gone(let connection):
      return try PayloadWriter.frame(.gone, bytes: 4) { $0.integer(Int(connection), bytes: 4) }
    case .closed: return try PayloadWriter.frame(.closed, bytes: 0)
    case .failed(let text):
      let text = plainText(text)
      return try PayloadWriter.frame(.failed, bytes: 2 + text.utf8.count) { $0.text(text) }
    case .unusable(let problem): return try PayloadWriter.frame(.unusable, bytes: 1 + 8) { problem.write(to: &$0) }
    case .certificateEnd(let end):
      return try PayloadWriter.frame(.certificateEnd, bytes: 8) { $0.integer(end, bytes: 8) }
    }
  }
}

extension RedirectRequest {
  fileprivate var size: Int {
    2 + method.utf8.count + 2 + target.utf8.count + 1 + hosts.reduce(0) { $0 + 2 + $1.utf8.count } + 1
  }

  fileprivate func validate() throws(FetchWireError) {
    guard method.utf8.count <= RedirectLimits.methodBytes else { throw .invalid("method") }
    guard hosts.count <= RedirectLimits.hosts else { throw .invalid("hosts") }
    guard size <= RedirectFrameKind.request.limit - 4 else { throw .frameTooLarge }
  }

  fileprivate init(payload reader: inout PayloadReader) throws(FetchWireError) {
    let method = try reader.text("method")
    let target = try reader.text("target")
    var hosts: [String] = []
    let count = try reader.integer(bytes: 1, "hosts")
    guard count <= RedirectLimits.hosts else { throw .invalid("hosts") }
    for _ in 0..<count { hosts.append(try reader.text("host")) }
    let flags = try reader.integer(bytes: 1, "flags")
    guard flags <= 3 else { throw .invalid("flags") }
    self.init(
      method: method, target: target, hosts: hosts, hasBody: flags & 1 != 0, isForwarded: flags & 2 != 0)
    try validate()
  }

  fileprivate func write(to writer: inout PayloadWriter) {
    writer.text(method)
    writer.text(target)
    writer.integer(hosts.count, bytes: 1)
    for host in hosts { writer.text(host) }
    writer.integer((hasBody ? 1 : 0) | (isForwarded ? 2 : 0), bytes: 1)
  }
}

/// A request holds the code: printing shows nothing of it.
extension RedirectRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<request>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension PayloadReader {
  /// A connection's.
  mutating func number() throws(FetchWireError) -> UInt32 { UInt32(try integer(bytes: 4, "connection")) }
}
