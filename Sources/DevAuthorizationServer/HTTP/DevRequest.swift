import HTTPTerms
package import OAuthProtocol
import Sealing

/// One request as the development server reads it.
package struct DevRequest: Sendable {
  /// Upper-case method, as received.
  package var method: String
  /// Origin form: path and optional query (RFC 9112 §3.2.1).
  package var target: String
  package var headers: [HTTPField]
  package var body: [UInt8]

  package init(_ method: String, _ target: String, headers: [HTTPField] = [], body: [UInt8] = []) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
  }

  /// A form post, as the token endpoint takes it.
  package static func form(
    _ target: String, _ pairs: KeyValuePairs<String, String>, headers: [HTTPField] = []
  ) -> DevRequest {
    let text = FormText.encode(pairs.map { ($0.key, $0.value) })
    return DevRequest(
      "POST", target, headers: [HTTPField("Content-Type", FormText.mediaType)] + headers, body: Array(text.utf8))
  }

  /// The target without its query, as written (not percent-decoded).
  package var path: String { String(target.prefix { $0 != "?" }) }

  /// What follows the first `?`, or an empty string.
  package var query: String {
    guard let mark = target.firstIndex(of: "?") else { return "" }
    return String(target[target.index(after: mark)...])
  }
}

extension DevRequest {
  /// Splits an absolute URL into the origin it is meant for and the request. Nil when `request` carries no absolute URL.
  static func split(_ request: HTTPRequest) -> (origin: Origin, request: DevRequest)? {
    guard let url = try? WebURL(String(request.url.prefix { $0 != "#" })) else { return nil }
    let target = (url.path.isEmpty ? "/" : url.path) + (url.query.map { "?" + $0 } ?? "")
    let body = request.body.withBytes { Array($0) }
    let credentials = request.credentials.map { [HTTPField("Authorization", $0.reveal())] } ?? []
    return (
      url.origin, DevRequest(request.method.rawValue, target, headers: request.headers + credentials, body: body)
    )
  }
}
