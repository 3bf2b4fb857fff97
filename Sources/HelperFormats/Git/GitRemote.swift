import HTTPTerms

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
        if isDigit(byte) || isLetter(byte) || "-._~".utf8.contains(byte) {
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
  package static func url(protocol scheme: String?, host: String?) -> String? {
    guard let scheme = scheme.flatMap(Origin.Scheme.init(rawValue:)), let host,
      let origin = try? Origin(scheme: scheme, authority: host[...])
    else { return nil }
    return origin.description + "/"
  }
}
