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

  init(scheme: Scheme, host: String, port: Int?) {
    self.scheme = scheme
    self.host = host
    self.port = port ?? scheme.defaultPort
  }

  /// An entry of an account's `hosts`: `host`, `host:port`, `https://host[:port]`, or `http://…` on loopback. Without a
  /// scheme https is meant. One final slash is allowed.
  ///
  /// Throws ``ProtocolError/host(shown:_:)``.
  package init(hostEntry text: String) throws(ProtocolError) {
    func refuse(_ problem: URLProblem) -> ProtocolError { .host(shown: Escaped.forTerminal(text), problem) }
    guard !text.isEmpty else { throw refuse(.empty) }
    guard text.utf8.count <= 300 else { throw refuse(.tooLong) }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw refuse(.forbiddenCharacter) }
    var scheme = Scheme.https
    var rest = text[...]
    if let (written, authority) = splitScheme(text) {
      guard let known = Scheme(rawValue: written) else { throw refuse(.scheme) }
      scheme = known
      rest = authority
    }
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    guard !rest.contains("#") else { throw refuse(.fragment) }
    guard !rest.contains("?") else { throw refuse(.query) }
    guard !rest.contains("/") else { throw refuse(.path) }
    do {
      let parts = try HostAndPort(rest)
      self.init(scheme: scheme, host: parts.host, port: parts.port)
    } catch {
      throw refuse(error.problem)
    }
    guard scheme == .https || isLoopback else { throw refuse(.plainHTTP) }
  }

  /// True for 127.0.0.0/8, [::1] and localhost.
  package var isLoopback: Bool { HostAndPort.isLoopback(host) }

  /// Whether the two are one owner's, as far as names tell: this machine's, or equal in their last two parts, three where
  /// those are like `co.uk`.
  package func sharesSite(with other: Origin) -> Bool {
    host == other.host || isLoopback && other.isLoopback || site != nil && site == other.site
  }

  private var site: String? {
    let labels = host.split(separator: ".")
    guard let last = labels.last, !last.utf8.allSatisfy(isDigit), !host.hasPrefix("[") else { return nil }
    let count = last.utf8.count == 2 && labels.dropLast().last.map { $0.utf8.count <= 3 } == true ? 3 : 2
    return labels.count < count ? nil : labels.suffix(count).joined(separator: ".")
  }

  /// `https://host`, with the port when it is not the default one; ``init(hostEntry:)`` reads it back.
  package var description: String {
    scheme.rawValue + "://" + host + (port == scheme.defaultPort ? "" : ":\(port)")
  }
}

/// The lower-case scheme and what follows `://`, or nil when there is no `://`.
func splitScheme(_ text: String) -> (scheme: String, rest: Substring)? {
  let bytes = text.utf8
  guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[bytes.index(after: colon)...].starts(with: "//".utf8)
  else { return nil }
  return (text[..<colon].lowercased(), text[bytes.index(colon, offsetBy: 3)...])
}
