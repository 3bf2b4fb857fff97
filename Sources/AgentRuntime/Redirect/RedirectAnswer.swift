import AgentCore
import NIOHTTP1

/// What the loopback listener sends to the browser: status, fields, a page without script, style or remote resource.
struct RedirectAnswer: Equatable {
  var status: HTTPResponseStatus
  var location: String?
  var allow: String?
  var page: String

  /// Where the browser is sent once the login has what it needs, so that the code leaves the address bar.
  static let landingPath = "/done"

  /// The answer to a request that the login judged.
  init(_ page: RedirectPage) {
    switch page {
    case .loggedIn, .refused: self = .seeLanding
    case .notFound: self = .notFound
    case .methodNotAllowed: self = .methodNotAllowed
    case .forward(let url): self.init(.seeOther, title: "Go on", text: "The login goes on.", location: url)
    case .linkUsed:
      self.init(
        .gone, title: "This link was used",
        text: "It opens a login once. The address that the terminal shows opens it again.")
    case .codeRefused(let reason):
      self.init(
        .badRequest, title: "Not logged in yet",
        text: "The server refused this code: \(reason). The login goes on; the terminal says more.")
    case .ignored:
      self.init(
        .badRequest, title: "Not a login",
        text: "No login of oauthctl waits for this address, or it was used before. Start again from the terminal.")
    }
  }

  /// The page at the clean address.
  init(landing page: RedirectPage) {
    switch page {
    case .refused(let reason):
      self.init(.ok, title: "Not logged in", text: "The server said no: \(reason). The terminal says more.")
    default:
      self.init(
        .ok, title: "oauthctl has what it needs", text: "You can close this page and go back to the terminal.")
    }
  }

  static let seeLanding = RedirectAnswer(.seeOther, title: "Go on", text: "The login goes on.", location: landingPath)
  static let notFound = RedirectAnswer(.notFound, title: "Not found", text: "There is nothing here.")
  static let methodNotAllowed = RedirectAnswer(
    .methodNotAllowed, title: "Not allowed", text: "Only GET is answered here.", allow: "GET")
  static let malformed = RedirectAnswer(.badRequest, title: "Bad request", text: "This is no request of a browser.")
  static let wrongHost = RedirectAnswer(
    .misdirectedRequest, title: "Wrong host", text: "Only this computer's own address is answered here.")
  static let tooLarge = RedirectAnswer(
    .requestHeaderFieldsTooLarge, title: "Too large", text: "The request is too large.")
  static let gone = RedirectAnswer(.notFound, title: "Over", text: "This login is over. The terminal says more.")

  private init(
    _ status: HTTPResponseStatus, title: String, text: String, location: String? = nil, allow: String? = nil
  ) {
    self.status = status
    self.location = location
    self.allow = allow
    let (title, text) = (HTMLText.escaped(title), HTMLText.escaped(text))
    page = """
      <!DOCTYPE html>
      <html lang="en">
      <head><meta charset="utf-8"><title>\(title)</title></head>
      <body><h1>\(title)</h1><p>\(text)</p></body>
      </html>

      """
  }

  var head: HTTPResponseHead {
    var headers = HTTPHeaders([
      ("Content-Type", "text/html; charset=utf-8"),
      ("Content-Length", String(page.utf8.count)),
      (
        "Content-Security-Policy",
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      ),
      ("Referrer-Policy", "no-referrer"),
      ("Cache-Control", "no-store"),
      ("X-Content-Type-Options", "nosniff"),
      ("Connection", "close"),
    ])
    if let location { headers.add(name: "Location", value: location) }
    if let allow { headers.add(name: "Allow", value: allow) }
    return HTTPResponseHead(version: .http1_1, status: status, headers: headers)
  }
}
