import AgentCore
import FetchWire
import OAuthProtocol

/// The pages of a login, without script, style or remote resource.
extension RedirectReply {
  /// Where the browser is sent once the login has what it needs, so that the code leaves the address bar.
  static let landingPath = "/done"

  /// The answer to a request that the login judged.
  init(_ page: RedirectPage) {
    switch page {
    case .loggedIn, .asked, .refused: self = .seeLanding
    case .notFound: self = .notFound
    case .methodNotAllowed: self = .methodNotAllowed
    case .forward(let url): self.init(303, title: "Go on", text: "The login goes on.", location: url)
    case .linkUsed:
      self.init(
        410, title: "This link was used",
        text: "It opens a login once. The address that the terminal shows opens it again.")
    case .codeRefused(let reason):
      self.init(
        400, title: "Not logged in yet",
        text: "The server refused this code: \(reason). The login goes on; the terminal says more.")
    case .ignored:
      self.init(
        400, title: "Not a login",
        text: "No login of oauthctl waits for this address, or it was used before. Start again from the terminal.")
    }
  }

  /// The page at the clean address.
  init(landing page: RedirectPage) {
    switch page {
    case .refused(let reason):
      self.init(200, title: "Not logged in", text: "The server said no: \(reason). The terminal says more.")
    case .asked:
      self.init(
        200, title: "Go back to the terminal",
        text: "The account was logged in as somebody else. The terminal asks whether this login takes that one's place."
      )
    case .notFound, .methodNotAllowed, .loggedIn, .codeRefused, .ignored, .forward, .linkUsed:
      self.init(
        200, title: "oauthctl has what it needs", text: "You can close this page and go back to the terminal.")
    }
  }

  static let seeLanding = RedirectReply(303, title: "Go on", text: "The login goes on.", location: landingPath)
  static let notFound = RedirectReply(404, title: "Not found", text: "There is nothing here.")
  static let methodNotAllowed = RedirectReply(405, title: "Not allowed", text: "Only GET is answered here.")
  static let malformed = RedirectReply(400, title: "Bad request", text: "This is no request of a browser.")
  static let wrongHost = RedirectReply(
    421, title: "Wrong host", text: "Only this computer's own address is answered here.")
  static let forwarded = RedirectReply(
    403, title: "Through a proxy",
    text: "This came through a proxy. Have your browser reach this computer's own address, 127.0.0.1, without one.")
  static let tooLarge = RedirectReply(431, title: "Too large", text: "The request is too large.")
  static let busy = RedirectReply(503, title: "Busy", text: "Too many requests at once. Try again.")
  static let gone = RedirectReply(404, title: "Over", text: "This login is over. The terminal says more.")

  private init(_ status: Int, title: String, text: String, location: String? = nil) {
    let (title, text) = (HTMLText.escaped(title), HTMLText.escaped(text))
    let page = """
      <!DOCTYPE html>
      <html lang="en">
      <head><meta charset="utf-8"><title>\(title)</title></head>
      <body><h1>\(title)</h1><p>\(text)</p></body>
      </html>

      """
    self.init(status: status, location: location, page: page)
  }
}
