/// How a proxy is named: `SCHEME://HOST:PORT`.
package enum ProxyURL {
  private static let schemes = ["http", "https", "socks5", "socks5h"]

  /// What is wrong with `text`, without a part of it: that may be a password. Nil: nothing.
  package static func problem(with text: String) -> String? {
    let form = "write it as http://HOST:PORT, https://…, socks5://… or socks5h://…"
    let pieces = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1)
    guard pieces.count == 2, pieces[1].starts(with: "//".utf8) else { return "it is no proxy URL; \(form)" }
    let scheme = String(decoding: pieces[0], as: UTF8.self).lowercased()
    guard schemes.contains(scheme) else { return "its scheme is not known; \(form)" }
    let authority = String(text.dropFirst(scheme.count + 3))
    if authority.contains("@") { return "it holds a user name or password; secrets do not belong in this file" }
    let place = authority.hasSuffix("/") ? String(authority.dropLast()) : authority
    do {
      _ = try Origin(hostEntry: "https://" + place)
    } catch {
      return "\(error.rawValue); \(form)"
    }
    let afterHost = place.hasPrefix("[") ? place.drop { $0 != "]" } : place[...]
    return afterHost.contains(":") ? nil : "it has no port; \(form)"
  }
}
