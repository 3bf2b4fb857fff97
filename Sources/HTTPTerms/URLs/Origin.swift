/// Scheme, host and port: what decides where a token may go. Two origins match when all three are equal.
package struct Origin: Sendable, Hashable, CustomStringConvertible {
  package enum Scheme: String, Sendable {
    case https
    /// Loopback only.
    case http

    package var defaultPort: Int { self == .https ? 443 : 80 }
  }

  package let scheme: Scheme
  /// Lower case; an IPv6 literal in brackets and in its canonical spelling.
  package let host: String
  /// 1…65535, the scheme's default when none was written.
  package let port: Int

  /// `authority` is `host` or `host:port`. Throws ``URLProblem/plainHTTP`` for http beyond loopback.
  package init(scheme: Scheme, authority: Substring) throws(URLProblem) {
    try self.init(scheme, HostAndPort(authority))
  }

  init(_ scheme: Scheme, _ parts: HostAndPort) throws(URLProblem) {
    self.scheme = scheme
    host = parts.host
    port = parts.port ?? scheme.defaultPort
    guard scheme == .https || isLoopback else { throw .plainHTTP }
  }

  /// Where a URL leads, whatever its path, query and fragment hold.
  package init(of url: String) throws(URLProblem) { self = try URLParts(url).origin }

  /// An entry of an account's `hosts`: `host`, `host:port`, `https://host[:port]`, or `http://…` on loopback. Without a
  /// scheme https is meant. One final slash is allowed.
  package init(hostEntry text: String) throws(URLProblem) {
    guard !text.isEmpty else { throw .empty }
    guard text.utf8.count <= 300 else { throw .tooLong }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .forbiddenCharacter }
    let parts = try URLParts(splitScheme(text) == nil ? "https://" + text : text)
    guard parts.fragment == nil else { throw .fragment }
    guard parts.query == nil else { throw .query }
    guard parts.path.isEmpty || parts.path == "/" else { throw .path }
    self = parts.origin
  }

  /// True for 127.0.0.0/8, [::1] and localhost.
  package var isLoopback: Bool {
    host == "localhost" || host == "[::1]" || isAddress && host.utf8.starts(with: "127.".utf8)
  }

  /// Whether a connection ends on this machine, whatever a name server says: beside loopback, the addresses that stand for
  /// none, the same within IPv6, and names below localhost (RFC 6761 §6.3).
  package var isThisMachine: Bool {
    if isLoopback || host == "[::]" || host.hasSuffix(".localhost") { return true }
    guard isAddress else { return false }
    let within = ["[::ffff:", "[::"].first { host.hasPrefix($0) } ?? ""
    let address = host.dropFirst(within.count).utf8
    return address.starts(with: "127.".utf8) || address.starts(with: "0.".utf8)
  }

  /// Whether the host is an address rather than a name: no name's last label is a number.
  package var isAddress: Bool {
    host.utf8.first == UInt8(ascii: "[") || host.utf8.reversed().prefix { $0 != UInt8(ascii: ".") }.allSatisfy(isDigit)
  }

  /// Whether the two are one owner's, as far as names tell: equal, or one below the other. Two names below one third may be two
  /// tenants of a platform; on this machine each port may be another user's.
  package func sharesOwner(with other: Origin) -> Bool {
    if isLoopback, other.isLoopback { return port == other.port }
    return host == other.host || isBelow(other) || other.isBelow(self)
  }

  private func isBelow(_ other: Origin) -> Bool {
    other.host.utf8.contains(UInt8(ascii: ".")) && !other.isAddress && host.hasSuffix("." + other.host)
  }

  /// `https://host`, with the port when it is not the default one; ``init(hostEntry:)`` reads it back.
  package var description: String {
    scheme.rawValue + "://" + host + (port == scheme.defaultPort ? "" : ":\(port)")
  }
}

/// The lower-case scheme and what follows `://`, or nil when there is no `://`.
package func splitScheme(_ text: String) -> (scheme: String, rest: Substring)? {
  let bytes = text.utf8
  guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
    return nil
  }
  return (String(decoding: bytes[..<colon].map(lowercased), as: UTF8.self), text[bytes.index(colon, offsetBy: 3)...])
}
