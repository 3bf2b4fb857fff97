extension FetchRequest {
  /// The bytes of the authority's frame, which goes before the head of a request that has one.
  ///
  /// Throws `frameTooLarge` above the limit, and `invalid` for an empty text: to trust nobody is never meant.
  package static func encoded(authority: [UInt8]) throws(FetchWireError) -> [UInt8] {
    guard !authority.isEmpty else { throw .invalid("authority") }
    return try FetchFrame.header(.requestAuthority, length: authority.count) + authority
  }

  /// The header of the frame of a client's certificate and key, which goes before the head, behind an authority; the PEM text
  /// of `bytes` bytes comes behind it.
  ///
  /// Throws `frameTooLarge` above the limit, and `invalid` for an empty text.
  package static func certificateHeader(bytes: Int) throws(FetchWireError) -> [UInt8] {
    guard bytes > 0 else { throw .invalid("certificate") }
    return try FetchFrame.header(.requestCertificate, length: bytes)
  }

  /// The bytes up to the body: the head frame and the header of the body frame. They may hold an `Authorization` field:
  /// ``wipe(_:)`` them once written.
  ///
  /// Throws what ``validate()`` throws, and `frameTooLarge` for a head or a body above its limit.
  package func encoded(bodyBytes: Int) throws(FetchWireError) -> [UInt8] {
    try validate()
    let proxy = proxy ?? ""
    let size = 2 + 4 * 3 + 3 + 2 * 2 + url.utf8.count + proxy.utf8.count + PayloadWriter.size(of: headers)
    let head = try FetchFrame.header(.requestHead, length: size)
    let body = try FetchFrame.header(.requestBody, length: bodyBytes)
    var writer = PayloadWriter(capacity: size + head.count + body.count)
    writer.raw(head)
    writer.integer(Int(FetchLimits.version), bytes: 1)
    writer.integer(Int(method.rawValue), bytes: 1)
    writer.integer(connectTimeoutMilliseconds, bytes: 4)
    writer.integer(timeoutMilliseconds, bytes: 4)
    writer.integer(answerBodyLimit, bytes: 4)
    writer.integer(hasAuthority ? 1 : 0, bytes: 1)
    writer.integer(hasCertificate ? 1 : 0, bytes: 1)
    writer.integer(isPublicOnly ? 1 : 0, bytes: 1)
    writer.text(url)
    writer.text(proxy)
    writer.fields(headers)
    writer.raw(body)
    return writer.bytes
  }

  /// Reads the payload of a head frame and validates it.
  init(payload: UnsafeRawBufferPointer) throws(FetchWireError) {
    var reader = PayloadReader(payload)
    let version = try reader.integer(bytes: 1, "version")
    guard version == Int(FetchLimits.version) else { throw .versionMismatch(UInt8(truncatingIfNeeded: version)) }
    guard let method = Method(rawValue: UInt8(truncatingIfNeeded: try reader.integer(bytes: 1, "method"))) else {
      throw .invalid("method")
    }
    let connectTimeout = try reader.integer(bytes: 4, "connect timeout")
    let timeout = try reader.integer(bytes: 4, "timeout")
    let limit = try reader.integer(bytes: 4, "answer body limit")
    let authority = try reader.integer(bytes: 1, "authority")
    guard authority <= 1 else { throw .invalid("authority") }
    let certificate = try reader.integer(bytes: 1, "certificate")
    guard certificate <= 1 else { throw .invalid("certificate") }
    let publicOnly = try reader.integer(bytes: 1, "public only")
    guard publicOnly <= 1 else { throw .invalid("public only") }
    let url = try reader.text("url")
    let proxy = try reader.text("proxy")
    self.init(
      method, url, headers: try reader.fields(), hasAuthority: authority == 1, hasCertificate: certificate == 1,
      isPublicOnly: publicOnly == 1, proxy: proxy.isEmpty ? nil : proxy, connectTimeoutMilliseconds: connectTimeout,
      timeoutMilliseconds: timeout,
      answerBodyLimit: limit)
    try reader.end()
    try validate()
  }
}

/// The helper's end of the request: feed it the growing buffer until it returns the one request.
package struct FetchRequestReader {
  /// Where a request's parts lie in the bytes.
  package struct Parts {
    package var request: FetchRequest
    /// The PEM text of its authority; nil when the system's count.
    package var authority: Range<Int>?
    /// The PEM text of the client's certificate and key; nil: it shows none.
    package var certificate: Range<Int>?
    package var body: Range<Int>
  }

  private var authority: Range<Int>?
  private var certificate: Range<Int>?
  private var head: FetchRequest?
  private var offset = 0

  package init() {}

  /// The request and where its parts lie in `bytes`, or nil while more bytes are needed. `bytes` always starts at the
  /// first byte of the stream. Throws for anything that is not exactly one request.
  package mutating func read(_ bytes: UnsafeRawBufferPointer) throws(FetchWireError) -> Parts? {
    if authority == nil, offset == 0, bytes.first == FetchFrameKind.requestAuthority.rawValue {
      guard let frame = try next(.requestAuthority, bytes) else { return nil }
      authority = frame.payload
    }
    if certificate == nil, offset == authority?.upperBound ?? 0, offset < bytes.count,
      bytes[offset] == FetchFrameKind.requestCertificate.rawValue
    {
      guard let frame = try next(.requestCertificate, bytes) else { return nil }
      certificate = frame.payload
    }
    if head == nil {
      guard let frame = try next(.requestHead, bytes) else { return nil }
      let request = try FetchRequest(payload: UnsafeRawBufferPointer(rebasing: bytes[frame.payload]))
      guard request.hasAuthority == (authority != nil), authority?.isEmpty != true else {
        throw .invalid("authority")
      }
      guard request.hasCertificate == (certificate != nil), certificate?.isEmpty != true else {
        throw .invalid("certificate")
      }
      head = request
    }
    guard let head, let frame = try next(.requestBody, bytes) else { return nil }
    guard offset == bytes.count else { throw .invalid("bytes after the request") }
    return Parts(request: head, authority: authority, certificate: certificate, body: frame.payload)
  }

  private mutating func next(
    _ kind: FetchFrameKind, _ bytes: UnsafeRawBufferPointer
  ) throws(FetchWireError) -> FetchFrame? {
    if offset < bytes.count, bytes[offset] != kind.rawValue { throw .unexpectedFrame(bytes[offset]) }
    guard let frame = try FetchFrame.scan(bytes, at: offset) else { return nil }
    offset = frame.payload.upperBound
    return frame
  }
}
