/// An answer as it lies in the agent's receiving buffer.
package struct FetchAnswer: Equatable, Sendable {
  /// 100 to 999, as the server sent it.
  package var status: Int
  /// Whether it came from an address of the public internet, or through a proxy, whose other end is not known here.
  package var isFromPublicAddress: Bool
  package var headers: [FetchField]
  /// Where the body lies in the stream.
  package var body: Range<Int>
  /// Why it is not complete: a part of the body may be missing. Nil: it is.
  package var cut: FetchFailure?

  package init(status: Int, isFromPublicAddress: Bool, headers: [FetchField], body: Range<Int>) {
    self.status = status
    self.isFromPublicAddress = isFromPublicAddress
    self.headers = headers
    self.body = body
  }
}

/// Why no answer came.
package struct FetchFailure: Equatable, Sendable, Error {
  /// The numbers are the wire's.
  package enum Reason: UInt8, Sendable, CaseIterable {
    case nameResolution = 1
    case connection = 2
    case tls = 3
    case proxy = 4
    case timeout = 5
    case tooLarge = 6
    case malformed = 7
    case cancelled = 8
    case helper = 9
    /// The certificate is signed by nobody who is trusted: waiting does not help.
    case untrusted = 10
    /// The request was for public addresses alone, and the server is at none.
    case privateAddress = 11
    /// The server ended the connection since it wants a certificate that the client did not show. It took nothing of the
    /// request, even where that had left already (TLS 1.3: RFC 8446 §4.4.2.4).
    case clientCertificate = 12
    /// The server's first bytes are no TLS.
    case notTLS = 13
    /// The certificate is for another name: waiting does not help either.
    case otherName = 14
  }

  package var reason: Reason
  /// Made fit to show by ``plainText(_:)``.
  package let text: String

  package init(_ reason: Reason, _ text: String) {
    self.reason = reason
    self.text = plainText(text)
  }
}

/// What the helper reports, in this order: `sent` at most once, then one answer or one failure.
package enum FetchEvent: Equatable, Sendable {
  /// From here on the server may have seen the body (of a request without one: the head).
  case sent
  case answer(FetchAnswer)
  case failure(FetchFailure)
}
