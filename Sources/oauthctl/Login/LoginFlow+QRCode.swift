import AgentWire
import Glibc

extension LoginFlow {
  /// Draws the page with the code in it, for the camera of another device: at a terminal, unless it was declined.
  func drawQRCode(_ login: LoginStarted) {
    let environment = context.environment
    guard drawsQRCode, context.terminal.errorIsTerminal, environment["TERM"] != "dumb",
      let code = Self.qrCode(
        of: login, columns: Terminal.columns(environment, of: STDERR_FILENO), isASCII: environment.wantsASCII)
    else { return }
    context.terminal.draw(code.lines)
  }

  /// Nil where it would not fit, where the locale has no half blocks, and where the page is at another server than the
  /// login: whoever opens that one has to read its address first, and a picture shows none.
  static func qrCode(of login: LoginStarted, columns: Int?, isASCII: Bool) -> QRCode? {
    guard let columns, !isASCII, login.notice == nil, let page = login.verificationURIComplete,
      let code = QRCode(page), code.width < columns
    else { return nil }
    return code
  }
}
