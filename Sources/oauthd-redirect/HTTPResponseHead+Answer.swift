import FetchWire
import NIOHTTP1

extension HTTPResponseHead {
  /// A page without script, style or remote resource.
  init(_ reply: RedirectReply) {
    let status = HTTPResponseStatus(statusCode: reply.status)
    var headers = HTTPHeaders([
      ("Content-Type", "text/html; charset=utf-8"),
      ("Content-Length", String(reply.page.utf8.count)),
      (
        "Content-Security-Policy",
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      ),
      ("Referrer-Policy", "no-referrer"),
      ("Cache-Control", "no-store"),
      ("X-Content-Type-Options", "nosniff"),
      ("Connection", "close"),
    ])
    if let location = reply.location { headers.add(name: "Location", value: location) }
    // What may be used belongs to this answer (RFC 9110 §15.5.6).
    if status == .methodNotAllowed { headers.add(name: "Allow", value: "GET") }
    self.init(version: .http1_1, status: status, headers: headers)
  }
}

extension RedirectRequest {
  /// What the agent judges of a request.
  init(_ head: HTTPRequestHead) {
    let hasBody =
      head.headers.contains(name: "Transfer-Encoding") || head.headers["Content-Length"].contains { $0 != "0" }
    self.init(
      method: head.method.rawValue, target: head.uri, hosts: Array(head.headers["Host"].prefix(2)), hasBody: hasBody,
      isForwarded: head.headers.contains { Self.isOfProxy($0.name.lowercased()) })
  }

  /// What a proxy adds (RFC 9110 §7.6.3, RFC 7239), or is sent.
  private static func isOfProxy(_ name: String) -> Bool {
    ["via", "forwarded", "x-real-ip"].contains(name) || name.hasPrefix("x-forwarded") || name.hasPrefix("proxy-")
  }
}
