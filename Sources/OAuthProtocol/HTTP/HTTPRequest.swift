package import Sealing

/// One header field. Names are compared without case (RFC 9110 §5.1).
package struct HTTPField: Sendable, Equatable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension [HTTPField] {
  /// The first value of the field `name`, or nil.
  package func value(_ name: String) -> String? { values(name).first }

  /// All values of the field `name`, in order.
  package func values(_ name: String) -> [String] {
    filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }
}

/// One HTTP request as a value: what a protocol rule wants sent. The transport adds nothing, follows no redirect and
/// never sends it twice.
package struct HTTPRequest: Sendable {
  package enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
    case delete = "DELETE"
  }

  package var method: Method
  /// Absolute `https` URL, or `http` on loopback.
  package var url: String
  package var headers: [HTTPField]
  /// The value of `Authorization` (RFC 9110 §11.6.2), or nil.
  package var credentials: Secret?
  /// Form bodies carry refresh tokens and client secrets, hence `Secret`.
  package var body: Secret
  /// What the client shows where it connects; nil: nothing. Only over https.
  package var certificate: ConnectionCertificate?
  /// Whether it may go to addresses of the public internet alone: a document of a server out there led to it, and no person
  /// named its host (docs/threat-model.md).
  package var isPublicOnly = false

  package init(
    _ method: Method, _ url: String, headers: [HTTPField] = [], credentials: Secret? = nil, body: Secret = Secret([])
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.credentials = credentials
    self.body = body
  }
}

/// A complete HTTP answer, at most ``HTTPLimits/bodyBytes`` of body.
package struct HTTPAnswer: Sendable, Equatable {
  package var status: Int
  package var headers: [HTTPField]
  /// Token endpoint answers carry tokens, hence `Secret`.
  package var body: Secret
  /// Whether it came from the public internet as far as can be told: not from this machine or a private network.
  package var isFromPublicAddress: Bool

  package init(
    status: Int, headers: [HTTPField] = [], body: Secret = Secret([]), isFromPublicAddress: Bool = true
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.isFromPublicAddress = isFromPublicAddress
  }
}

/// Why no answer arrived, in words fit to show a person (already escaped by the transport).
package struct HTTPFailure: Sendable, Equatable, Error {
  package enum Reason: String, Sendable, Codable {
    case nameResolution = "name_resolution"
    case connection
    case tls
    /// The server's first bytes are no TLS.
    case notTLS = "not_tls"
    case proxy
    case timeout
    case tooLarge = "too_large"
    case malformed
    case cancelled
    /// The private authority is not the one that was to be used.
    case authority
    /// The server's certificate is signed by nobody who is trusted.
    case untrusted
    /// The server's certificate is for another name.
    case otherName = "other_name"
    /// The request was for public addresses alone, and the server is at none.
    case privateAddress = "private_address"
    /// The server wants a certificate of its client, and does not take the one that it was shown, or was shown none.
    case clientCertificate = "client_certificate"
    case helper
    /// The program that sends requests is not there, or is another one: trying again does not help.
    case installation
  }

  package var reason: Reason
  package var message: String
  /// What came of a 2xx answer whose connection failed or whose time was over before its end.
  package var cut: HTTPAnswer?

  package init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }
}

/// The three things that can become of a request. The line between the first two decides whether a refresh token may
/// have been used up: `sent` begins with the first body byte handed to the network.
package enum HTTPOutcome: Sendable {
  case notSent(HTTPFailure)
  case sentNoAnswer(HTTPFailure)
  case answered(HTTPAnswer)
}

/// A private certificate authority that counts instead of the system's.
package struct NamedAuthority: Sendable, Hashable {
  /// A PEM file.
  package var file: String
  /// SHA-256, in hexadecimal digits, of what the file must hold when a request is sent.
  package var digest: String

  /// Nil without a file. No request can be sent with a file whose digest nobody knows.
  package init?(file: String?, digest: String?) {
    guard let file else { return nil }
    self.file = file
    self.digest = digest ?? ""
  }
}

/// How one request travels; part of the account, never of the environment.
package struct HTTPRoute: Sendable, Equatable {
  /// Nil: the system's authorities count.
  package var authority: NamedAuthority?
  /// Proxy URL, or nil for none.
  package var proxy: String?
  /// Milliseconds for name, connection and TLS.
  package var connectTimeoutMilliseconds: Int
  /// Milliseconds for the whole exchange.
  package var timeoutMilliseconds: Int

  package init(
    authority: NamedAuthority? = nil, proxy: String? = nil, connectTimeoutMilliseconds: Int = 5_000,
    timeoutMilliseconds: Int = 30_000
  ) {
    self.authority = authority
    self.proxy = proxy
    self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    self.timeoutMilliseconds = timeoutMilliseconds
  }
}

package enum HTTPLimits {
  /// Largest answer body: 1 MiB.
  package static let bodyBytes = 1 << 20
}

/// The HTTP seam: one method, three outcomes, never a throw. Cancelling the task does not cancel a request whose
/// answer may carry a rotated refresh token.
package protocol HTTPTransport: Sendable {
  func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome
}
