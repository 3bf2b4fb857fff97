import Sealing

/// What stands in a PEM text (RFC 7468) and is meant to: of a file that an account names, nothing else is handed to the processes
/// that speak to servers and browsers, such as a private key beside a certificate.
enum PEMBlocks {
  /// The certificates and revocation lists (RFC 7468 §5, §6), each with its line ends; empty where there is none.
  static func certificates(in text: [UInt8]) -> [UInt8] {
    ranges(in: text, labels: ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CRL"]).flatMap {
      text[$0]
    }
  }

  /// What a login with a private authority is bound to, of the file that holds it: words beside the certificates say nothing.
  /// SHA-256 in hex.
  static func digest(ofAuthority text: [UInt8]) -> String { digest(certificates(in: text), of: text) }

  /// `certificates` are those of `text`.
  static func digest(_ certificates: [UInt8], of text: [UInt8]) -> String {
    Hex.encode(Digest.sha256(certificates.isEmpty ? text : certificates))
  }

  /// Where the first private key is that a TLS server can use (RFC 7468 §10, §11, and the older kinds); nil: there is none.
  static func privateKey(in text: [UInt8]) -> Range<Int>? {
    ranges(in: text, labels: ["PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"]).first
  }

  /// Of the blocks with these labels that are whole: with an end, and no other mark before that.
  private static func ranges(in text: [UInt8], labels: [String]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var open: (start: Int, end: [UInt8])?
    var start = text.startIndex
    while start < text.endIndex {
      let next = text[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? text.endIndex
      let line = withoutBlanksBehind(text[start..<next])
      if line.starts(with: "-----".utf8) {
        if let block = open, line.elementsEqual(block.end) { ranges.append(block.start..<next) }
        let label = labels.first { line.elementsEqual("-----BEGIN \($0)-----".utf8) }
        open = label.map { (start, Array("-----END \($0)-----".utf8)) }
      }
      start = next
    }
    return ranges
  }

  private static func withoutBlanksBehind(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.lastIndex { !" \t\r\n".utf8.contains($0) }.map { line[...$0] } ?? []
  }
}
