import FetchWire
import OAuthProtocol
import Sealing

/// An encoded request head; it may hold an `Authorization` field.
struct FetchHead: Sendable {
  private let bytes: Secret

  /// Throws when the request breaks a rule of ``FetchRequest/validate()`` or a limit.
  init(_ request: FetchRequest, bodyBytes: Int) throws(FetchWireError) {
    var encoded = try request.encoded(bodyBytes: bodyBytes)
    bytes = Secret(encoded)
    wipe(&encoded)
  }

  var count: Int { bytes.count }

  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { bytes.withBytes(body) }
}

extension ConnectionCertificate {
  /// Its whole frame. Throws `frameTooLarge`.
  func frame() throws(FetchWireError) -> Secret {
    let header = try FetchRequest.certificateHeader(bytes: pem.count)
    return Secret(count: header.count + pem.count) { target in
      target.copyBytes(from: header)
      pem.write(to: UnsafeMutableRawBufferPointer(rebasing: target[header.count...]))
    }
  }
}

extension FetchRequest {
  /// The request and its route as the helper wants them.
  init(_ request: HTTPRequest, route: HTTPRoute, userAgent: String) {
    var headers = request.headers.map { FetchField($0.name, $0.value) }
    if request.headers.value("User-Agent") == nil { headers.append(FetchField("User-Agent", userAgent)) }
    if let credentials = request.credentials { headers.append(FetchField("Authorization", credentials.reveal())) }
    let method: Method =
      switch request.method {
      case .get: .get
      case .post: .post
      case .delete: .delete
      }
    self.init(
      method, request.url, headers: headers,
      hasAuthority: route.authority != nil, hasCertificate: request.certificate != nil,
      isPublicOnly: request.isPublicOnly, proxy: route.proxy,
      connectTimeoutMilliseconds: route.connectTimeoutMilliseconds, timeoutMilliseconds: route.timeoutMilliseconds,
      answerBodyLimit: HTTPLimits.bodyBytes)
  }
}
