import Glibc

/// The authority part of a URL, strictly: a host and the port when one is written.
///
/// Written by hand because the general URL types repair what they are given (escape blanks, take odd spellings of
/// addresses), and a repaired URL may reach another host than the one that was compared.
struct HostAndPort {
  /// Lower case; IPv6 in brackets and in its canonical spelling.
  let host: String
  let port: Int?

  init(_ authority: Substring) throws(URLProblem) {
    let bytes = authority.utf8.map(lowercased)
    guard !bytes.contains(UInt8(ascii: "@")) else { throw .userInfo }
    var end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
    if bytes.first == UInt8(ascii: "[") {
      guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { throw .host }
      end = bracket + 1
    }
    guard let host = Self.canonicalHost(bytes[..<end]) else { throw .host }
    self.host = host
    let rest = bytes[end...]
    guard rest.first ?? UInt8(ascii: ":") == UInt8(ascii: ":") else { throw .host }
    port = rest.isEmpty ? nil : Self.number(rest.dropFirst(), in: 1...65_535)
    guard rest.isEmpty || port != nil else { throw .port }
  }

  private static func canonicalHost(_ host: ArraySlice<UInt8>) -> String? {
    if host.first == UInt8(ascii: "[") { return canonicalIPv6(host.dropFirst().dropLast()) }
    let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard host.count <= 253, labels.allSatisfy(isLabel), let last = labels.last else { return nil }
    // `127.1`, `0x7f.1` and `2130706433` are addresses to some resolvers and names to others.
    if last.allSatisfy(isDigit) || last.starts(with: "0x".utf8) {
      guard labels.count == 4, labels.allSatisfy({ number($0, in: 0...255) != nil }) else { return nil }
    }
    return String(decoding: host, as: UTF8.self)
  }

  /// Letters, digits, `-` and `_`; an international name is written in A-labels (RFC 5890 §2.3.2.1).
  private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
    (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
      && label.allSatisfy { isDigit($0) || isLetter($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }

  /// Without needless zeros: `010` is eight to some readers.
  private static func number(_ digits: ArraySlice<UInt8>, in range: ClosedRange<Int>) -> Int? {
    guard (1...5).contains(digits.count), digits.allSatisfy(isDigit) else { return nil }
    if digits.first == UInt8(ascii: "0"), digits.count > 1 { return nil }
    let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return range.contains(number) ? number : nil
  }

  /// Without a zone, which names an interface of one machine.
  private static func canonicalIPv6(_ text: ArraySlice<UInt8>) -> String? {
    // A NUL would end the text for inet_pton.
    guard text.allSatisfy({ isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }) else { return nil }
    var address = in6_addr()
    guard inet_pton(AF_INET6, String(decoding: text, as: UTF8.self), &address) == 1 else { return nil }
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
    return "[" + String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) + "]"
  }
}
