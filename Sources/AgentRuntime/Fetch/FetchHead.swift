import FetchWire
import OAuthProtocol

/// An encoded request head, wiped with its last reference: it may hold an `Authorization` field.
final class FetchHead: Sendable {
  nonisolated(unsafe) private var bytes: [UInt8]
  let count: Int

  /// Throws when the request breaks a rule of ``FetchRequest/validate()`` or a limit.
  init(_ request: FetchRequest, bodyBytes: Int) throws(FetchWireError) {
    bytes = try request.encoded(bodyBytes: bodyBytes)
    count = bytes.count
  }

  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { bytes.withUnsafeBytes(body) }

  deinit { wipe(&bytes) }
}

extension FetchRequest {
  /// The request and its route as the helper wants them.
  init(_ request: HTTPRequest, route: HTTPRoute, userAgent: String) {
    var headers = request.headers.map { FetchField($0.name, $0.value) }
    if request.headers.value("User-Agent") == nil { headers.append(FetchField("User-Agent", userAgent)) }
    self.init(
      request.method == .post ? .post : .get, request.url, headers: headers,
      certificateAuthorityFile: route.certificateAuthorityFile, proxy: route.proxy,
      connectTimeoutMilliseconds: route.connectTimeoutMilliseconds, timeoutMilliseconds: route.timeoutMilliseconds,
      answerBodyLimit: HTTPLimits.bodyBytes)
  }
}
