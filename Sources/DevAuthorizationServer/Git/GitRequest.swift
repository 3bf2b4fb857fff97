/// A request of git's smart HTTP protocol (gitprotocol-http): nothing but its three paths below one repository.
package struct GitRequest: Sendable, Equatable {
  /// `/app.git/info/refs`: what `git http-backend` gets as PATH_INFO.
  package var pathInfo: String
  package var query: String

  /// Reads `/git/NAME.git/info/refs?service=…`, `/git/NAME.git/git-upload-pack` or `…/git-receive-pack`. Nil for
  /// everything else: the dumb protocol, other folders, other methods.
  package init?(_ request: DevRequest) {
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count >= 4, parts[0].isEmpty, parts[1] == "git", GitRequest.isName(parts[2]) else { return nil }
    let rest = parts[3...].joined(separator: "/")
    switch (request.method, rest, request.query) {
    case ("GET", "info/refs", "service=git-upload-pack"), ("GET", "info/refs", "service=git-receive-pack"),
      ("POST", "git-upload-pack", ""), ("POST", "git-receive-pack", ""):
      break
    default: return nil
    }
    pathInfo = "/\(parts[2])/\(rest)"
    query = request.query
  }

  /// Letters, digits, `.`, `_` and `-`, not beginning with a dot or dash, ending in `.git`; at most 100 characters.
  private static func isName(_ name: String) -> Bool {
    guard name.utf8.count <= 100, name.hasSuffix(".git"), let first = name.utf8.first,
      first != UInt8(ascii: "."), first != UInt8(ascii: "-")
    else { return false }
    return name.utf8.allSatisfy { $0.isBase64URL || $0 == UInt8(ascii: ".") }
  }
}
