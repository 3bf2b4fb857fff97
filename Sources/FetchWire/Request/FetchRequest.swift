/// What the agent asks `oauthd-fetch` to send, without the body and the authority: these travel in frames of their own,
/// straight from the memory they lie in.
package struct FetchRequest: Equatable, Sendable {
  package enum Method: UInt8, Sendable {
    case get = 1
    case post = 2
    case delete = 3
  }

  package var method: Method
  /// Absolute URL: `https`, or `http` on loopback (which the helper judges, with the parser that connects).
  package var url: String
  /// Fields the transport does not write itself; see ``transportFields``.
  package var headers: [FetchField]
  /// Whether the PEM text of a private certificate authority goes before the request, to count instead of the system's.
  package var hasAuthority: Bool
  /// Whether the PEM text of the client's certificate and its private key goes before the request (RFC 8705); over https.
  package var hasCertificate: Bool
  /// Whether it goes to addresses of the public internet alone, whatever a name server says.
  package var isPublicOnly: Bool
  /// Proxy URL, or nil for none.
  package var proxy: String?
  /// Milliseconds for name, connection, proxy and TLS.
  package var connectTimeoutMilliseconds: Int
  /// Milliseconds for the whole exchange.
  package var timeoutMilliseconds: Int
  /// Largest answer body in bytes, at most ``FetchLimits/answerBodyBytes``.
  package var answerBodyLimit: Int

  package init(
    _ method: Method, _ url: String, headers: [FetchField] = [], hasAuthority: Bool = false,
    hasCertificate: Bool = false, isPublicOnly: Bool = false, proxy: String? = nil,
    connectTimeoutMilliseconds: Int = 5_000,
    timeoutMilliseconds: Int = 30_000,
    answerBodyLimit: Int = FetchLimits.answerBodyBytes
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.hasAuthority = hasAuthority
    self.hasCertificate = hasCertificate
    self.isPublicOnly = isPublicOnly
    self.proxy = proxy
    self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    self.timeoutMilliseconds = timeoutMilliseconds
    self.answerBodyLimit = answerBodyLimit
  }

  /// Fields that belong to the transport: with them a request could lie about its length, name another host, or have
  /// the answer encoded past the size limit.
  package static let transportFields: Set<String> = [
    "accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// Refuses what must not reach a socket: line breaks, control bytes, fields of the transport, values out of range.
  package func validate() throws(FetchWireError) {
    guard Self.isVisible(url), url.hasPrefix("https://") || url.hasPrefix("http://") else { throw .invalid("url") }
    guard !hasCertificate || url.hasPrefix("https://") else { throw .invalid("certificate") }
    if let proxy { guard Self.isVisible(proxy) else { throw .invalid("proxy") } }
    guard headers.count <= FetchLimits.headerFields else { throw .invalid("header fields") }
    for field in headers {
      guard field.hasValidName, !Self.transportFields.contains(field.name.lowercased()) else {
        throw .invalid("header name")
      }
      guard field.value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), field.value.utf8.count <= 0xFFFF else {
        throw .invalid("header value")
      }
    }
    guard FetchLimits.timeoutMilliseconds.contains(connectTimeoutMilliseconds) else {
      throw .invalid("connect timeout")
    }
    guard FetchLimits.timeoutMilliseconds.contains(timeoutMilliseconds) else { throw .invalid("timeout") }
    guard (0...FetchLimits.answerBodyBytes).contains(answerBodyLimit) else { throw .invalid("answer body limit") }
  }

  private static func isVisible(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= FetchLimits.textBytes && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}

/// Header fields and URLs may carry secrets: printing shows neither.
extension FetchRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<\(method) request, \(headers.count) fields>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
