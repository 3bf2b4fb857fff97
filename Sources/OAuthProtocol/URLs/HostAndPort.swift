import Glibc

/// The authority part of a URL, strictly: a lower-case host and the port when one is written.
///
/// Written by hand because the general URL types repair what they are given (escape blanks, take odd spellings of
/// addresses), and a repaired URL may reach another host than the one that was compared.
struct HostAndPort {
  /// Lower case; IPv6 in brackets and in its canonical spelling.
  var host: String
  var port: Int?

  init(_ authority: Substring) throws(HostProblem) {
    guard !authority.contains("@") else { throw HostProblem(.userInfo) }
    let hostText: Substring
    let portText: Substring?
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { throw HostProblem(.host) }
      hostText = authority[...end]
      let rest = authority[authority.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { throw HostProblem(.host) }
      portText = rest.isEmpty ? nil : rest.dropFirst()
    } else if let colon = authority.firstIndex(of: ":") {
      hostText = authority[..<colon]
      portText = authority[authority.index(after: colon)...]
    } else {
      hostText = authority
      portText = nil
    }
    guard let host = Self.canonicalHost(hostText) else { throw HostProblem(.host) }
    self.host = host
    port = try portText.map { text throws(HostProblem) in
      guard let port = Self.port(text) else { throw HostProblem(.port) }
      return port
    }
  }

  private static func port(_ text: Substring) -> Int? {
    guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy(isDigit), text.utf8.first != UInt8(ascii: "0"),
      let port = Int(text), port <= 65_535
    else { return nil }
    return port
  }

  static func canonicalHost(_ text: Substring) -> String? {
    if text.hasPrefix("[") { return canonicalIPv6(text.dropFirst().dropLast()) }
    let host = text.lowercased()
    guard (1...253).contains(host.utf8.count) else { return nil }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    for label in labels {
      guard (1...63).contains(label.utf8.count), !label.hasPrefix("-"), !label.hasSuffix("-"),
        label.utf8.allSatisfy({ isDigit($0) || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x5F })
      else { return nil }
    }
    // `127.1`, `0x7f.1` and `2130706433` are addresses to some resolvers and names to others.
    if let last = labels.last, last.utf8.allSatisfy(isDigit) || last.hasPrefix("0x") {
      return isDottedQuad(labels) ? host : nil
    }
    return host
  }

  private static func isDottedQuad(_ labels: [Substring]) -> Bool {
    labels.count == 4
      && labels.allSatisfy { label in
        guard label.utf8.count <= 3, label.utf8.allSatisfy(isDigit), let number = Int(label) else { return false }
        return number <= 255 && (label.utf8.count == 1 || !label.hasPrefix("0"))
      }
  }

  private static func canonicalIPv6(_ text: Substring) -> String? {
    var address = in6_addr()
    guard inet_pton(AF_INET6, String(text), &address) == 1 else { return nil }
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
    return "[" + String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) + "]"
  }

  /// True for `localhost` and the literals 127.0.0.0/8 and [::1], in canonical spelling.
  static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    return labels.first == "127" && isDottedQuad(labels)
  }
}

struct HostProblem: Error {
  var problem: URLProblem
  init(_ problem: URLProblem) { self.problem = problem }
}

func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

func isHexDigit(_ byte: UInt8) -> Bool {
  isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
}
