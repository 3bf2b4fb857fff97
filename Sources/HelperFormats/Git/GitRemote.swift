/// The server a credential is for, when it is one that a token may go to.
package enum GitRemote {
  /// Longest path that is passed on, in bytes.
  private static let pathLimit = 1_024

  /// `https://host[:port]/path`; nil where there is none without a path. A path that is long, or that two readers could
  /// take for two, is left out.
  package static func url(protocol scheme: String?, host: String?, path: String?) -> String? {
    url(protocol: scheme, host: host).map { $0 + encoded(path ?? "") }
  }

  /// As git has decoded it, encoded again (RFC 3986 §3.3), without slashes at its ends.
  private static func encoded(_ path: String) -> String {
    let segments = path.utf8.split(separator: UInt8(ascii: "/"))
    guard path.utf8.count <= pathLimit, !segments.contains(where: { $0.allSatisfy { $0 == UInt8(ascii: ".") } }) else {
      return ""
    }
    var text: [UInt8] = []
    let digits = Array("0123456789ABCDEF".utf8)
    for (index, segment) in segments.enumerated() {
      if index > 0 { text.append(UInt8(ascii: "/")) }
      for byte in segment {
        if isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || "-._~".utf8.contains(byte)
        {
          text.append(byte)
        } else {
          text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
        }
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// `https://host[:port]/`, or nil: another protocol, plain http beyond loopback, or a host that is spelled in a way
  /// that two readers could take for two hosts.
  ///
  /// Host names are compared in lower case (RFC 9110 §4.2.3); the default port is left out.
  package static func url(protocol scheme: String?, host: String?) -> String? {
    guard let scheme, let host, scheme == "https" || scheme == "http" else { return nil }
    guard (1...262).contains(host.utf8.count) else { return nil }
    let bytes = host.utf8.map(lowercased)
    // The colons of an IPv6 address stand inside its brackets.
    let end = bytes.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? bytes.firstIndex(of: UInt8(ascii: ":"))
    let name = bytes[..<(end ?? bytes.endIndex)]
    guard isAddress(name) || isName(name), scheme == "https" || isLoopback(name) else { return nil }
    let origin = "\(scheme)://\(String(decoding: name, as: UTF8.self))"
    let rest = bytes[name.endIndex...]
    if rest.isEmpty { return origin + "/" }
    guard rest.first == UInt8(ascii: ":"), let port = number(rest.dropFirst(), in: 1...65_535) else { return nil }
    return port == (scheme == "https" ? 443 : 80) ? origin + "/" : "\(origin):\(port)/"
  }

  /// Without needless zeros.
  private static func number(_ digits: ArraySlice<UInt8>, in range: ClosedRange<Int>) -> Int? {
    guard (1...5).contains(digits.count), digits.allSatisfy(isDigit) else { return nil }
    if digits.first == UInt8(ascii: "0"), digits.count > 1 { return nil }
    let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return range.contains(number) ? number : nil
  }

  /// An IPv6 address in brackets, without a zone.
  private static func isAddress(_ name: ArraySlice<UInt8>) -> Bool {
    guard name.count >= 4, name.first == UInt8(ascii: "["), name.last == UInt8(ascii: "]") else { return false }
    let inner = name.dropFirst().dropLast()
    return inner.contains(UInt8(ascii: ":"))
      && inner.allSatisfy {
        isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) || $0 == UInt8(ascii: ":")
          || $0 == UInt8(ascii: ".")
      }
  }

  /// Labels of letters, digits, `-` and `_`, none of them empty: no dot at the end, no user before an `@`.
  private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
    let label = name.prefix { $0 != UInt8(ascii: ".") }
    guard (1...63).contains(label.count), label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-"),
      label.allSatisfy({
        isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-")
          || $0 == UInt8(ascii: "_")
      })
    else { return false }
    return label.endIndex == name.endIndex || isName(name[(label.endIndex + 1)...])
  }

  private static func isLoopback(_ name: ArraySlice<UInt8>) -> Bool {
    if name.elementsEqual("localhost".utf8) || name.elementsEqual("[::1]".utf8) { return true }
    var rest = name
    for place in 1...4 {
      let octet = rest.prefix { $0 != UInt8(ascii: ".") }
      guard number(octet, in: place == 1 ? 127...127 : 0...255) != nil else { return false }
      rest = rest.dropFirst(octet.count)
      guard rest.isEmpty == (place == 4) else { return false }
      rest = rest.dropFirst()
    }
    return true
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
