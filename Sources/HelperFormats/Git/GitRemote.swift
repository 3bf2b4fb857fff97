/// The server a credential is for, when it is one that a token may go to.
package enum GitRemote {
  /// `https://host[:port]/`, or nil: another protocol, plain http beyond loopback, or a host that is spelled in a way
  /// that two readers could take for two hosts.
  ///
  /// Host names are compared in lower case (RFC 9110 §4.2.3); the default port is left out.
  package static func url(protocol scheme: String?, host: String?) -> String? {
    guard let scheme, let host, scheme == "https" || scheme == "http" else { return nil }
    guard let (name, port) = split(host) else { return nil }
    if scheme == "http", !isLoopback(name) { return nil }
    let isDefault = port == nil || port == (scheme == "https" ? 443 : 80)
    return isDefault ? "\(scheme)://\(name)/" : "\(scheme)://\(name):\(port ?? 0)/"
  }

  private static func split(_ host: String) -> (name: String, port: Int?)? {
    let bytes = Array(host.utf8)
    guard !bytes.isEmpty, bytes.count <= 262, bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
    let colon: Int?
    if bytes[0] == UInt8(ascii: "[") {
      guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      guard close + 1 == bytes.count || bytes[close + 1] == UInt8(ascii: ":") else { return nil }
      colon = close + 1 < bytes.count ? close + 1 : nil
    } else {
      colon = bytes.firstIndex(of: UInt8(ascii: ":"))
    }
    let name = String(decoding: bytes[..<(colon ?? bytes.count)], as: UTF8.self).lowercased()
    guard isAddress(name) || isName(name) else { return nil }
    guard let colon else { return (name, nil) }
    guard let port = port(bytes[(colon + 1)...]) else { return nil }
    return (name, port)
  }

  private static func port(_ digits: ArraySlice<UInt8>) -> Int? {
    guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0"), digits.allSatisfy(isDigit) else {
      return nil
    }
    return Int(String(decoding: digits, as: UTF8.self)).flatMap { $0 <= 65_535 ? $0 : nil }
  }

  /// An IPv6 address in brackets, without a zone.
  private static func isAddress(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard bytes.count >= 4, bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") else { return false }
    let inner = bytes[1..<bytes.count - 1]
    return inner.contains(UInt8(ascii: ":"))
      && inner.allSatisfy {
        isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) || $0 == UInt8(ascii: ":")
          || $0 == UInt8(ascii: ".")
      }
  }

  /// Labels of letters, digits, `-` and `_`, none of them empty: no dot at the end, no user before an `@`.
  private static func isName(_ name: String) -> Bool {
    let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return labels.allSatisfy { label in
      (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
        && label.allSatisfy {
          isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-")
            || $0 == UInt8(ascii: "_")
        }
    }
  }

  private static func isLoopback(_ name: String) -> Bool {
    if name == "localhost" || name == "[::1]" { return true }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in
        part.utf8.count <= 3 && part.utf8.allSatisfy(isDigit)
          && Int(part).map { $0 <= 255 && String($0) == part } == true
      }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
