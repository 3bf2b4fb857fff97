/// What may stand before a host, with `@` behind it: a user name and a password (RFC 3986 §3.2.1).
package enum UserInfo {
  /// Whether `uri` has it in its authority.
  package static func stands(in uri: String) -> Bool {
    let rest = uri.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst()
    guard rest.starts(with: "//".utf8) else { return false }
    return rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }.contains(UInt8(ascii: "@"))
  }

  /// `text`, which may be no URL at all, without what could be a password in it: a mistake is shown with what follows the last `@`.
  package static func cut(from text: String) -> String {
    guard let end = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return text }
    return "…" + text[end...]
  }
}
