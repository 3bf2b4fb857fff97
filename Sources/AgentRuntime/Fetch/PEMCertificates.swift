/// The certificates and revocation lists of a PEM text (RFC 7468 §5, §6), as they stand there. Whatever else a file holds,
/// such as a private key, is not handed to the process that speaks to servers.
enum PEMCertificates {
  private static let labels = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CRL"]

  /// Their lines, each with its end; empty where there is none that has an end.
  static func blocks(in text: [UInt8]) -> [UInt8] {
    var blocks: [UInt8] = []
    var block: [UInt8] = []
    var end: [UInt8]?
    var start = text.startIndex
    while start < text.endIndex {
      let next = text[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? text.endIndex
      let line = text[start..<next]
      start = next
      if end == nil, let label = labels.first(where: { line.starts(with: "-----BEGIN \($0)-----".utf8) }) {
        end = Array("-----END \(label)-----".utf8)
        block = []
      }
      guard let mark = end else { continue }
      block += line
      if line.starts(with: mark) {
        blocks += block
        end = nil
      }
    }
    return blocks
  }
}
