package import OAuthProtocol
import Sealing

/// One answer, and what is to become of it on its way.
package struct DevResponse: Sendable {
  /// How much of the answer leaves.
  package enum Delivery: Sendable, Equatable {
    case whole
    /// The connection closes after the head and this many bytes of the body.
    case cut(afterBytes: Int)
    /// The request was read; the connection closes without an answer.
    case dropped
    /// Nobody listened: the request was never read. A real server can only drop.
    case refused
  }

  package var status: Int
  package var headers: [HTTPField]
  package var body: [UInt8]
  /// Milliseconds to wait before the answer leaves. The engine never waits itself.
  package var delayMilliseconds: Int
  package var delivery: Delivery

  package init(
    status: Int, headers: [HTTPField] = [], body: [UInt8] = [], delayMilliseconds: Int = 0, delivery: Delivery = .whole
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.delayMilliseconds = delayMilliseconds
    self.delivery = delivery
  }

  /// The body as text.
  package var text: String { String(decoding: body, as: UTF8.self) }

  /// What a client of the HTTP seam sees of it.
  package var outcome: HTTPOutcome {
    switch delivery {
    case .whole: .answered(HTTPAnswer(status: status, headers: headers, body: Secret(body)))
    case .cut: .sentNoAnswer(HTTPFailure(.connection, "the connection closed in the middle of the answer"))
    case .dropped: .sentNoAnswer(HTTPFailure(.connection, "the connection closed without an answer"))
    case .refused: .notSent(HTTPFailure(.connection, "connection refused"))
    }
  }
}

extension DevResponse {
  /// Tokens and anything about them must not be kept by a cache (RFC 6749 §5.1).
  static let noStore = [HTTPField("Cache-Control", "no-store"), HTTPField("Pragma", "no-cache")]

  static func json(_ value: JSONText, status: Int = 200, headers: [HTTPField] = noStore) -> DevResponse {
    DevResponse(
      status: status, headers: [HTTPField("Content-Type", "application/json")] + headers,
      body: Array((value.text + "\n").utf8))
  }

  static func text(_ status: Int, _ text: String, headers: [HTTPField] = []) -> DevResponse {
    DevResponse(
      status: status, headers: [HTTPField("Content-Type", "text/plain; charset=utf-8")] + headers,
      body: Array((text + "\n").utf8))
  }

  /// 303: whatever the method was, the next request is a GET (RFC 9110 §15.4.4).
  static func redirect(to location: String) -> DevResponse {
    DevResponse(
      status: 303,
      headers: [HTTPField("Location", location), HTTPField("Referrer-Policy", "no-referrer")] + noStore)
  }

  static func methodNotAllowed(_ allowed: String) -> DevResponse {
    text(405, "use \(allowed)", headers: [HTTPField("Allow", allowed)])
  }
}
