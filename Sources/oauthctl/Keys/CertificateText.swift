import FoundationEssentials

/// The certificates of a key as files hold them, from its public JWK (`x5c`, RFC 7517 §4.7).
struct CertificateText {
  /// RFC 7468 §5; without a line's end behind it.
  let pem: String

  private struct Key: Decodable { var x5c: [String]? }

  private static let lineDigits = 64

  /// Nil: no certificate is in it.
  init?(publicKey: String) {
    guard let certificates = (try? JSONDecoder().decode(Key.self, from: Data(publicKey.utf8)))?.x5c,
      !certificates.isEmpty
    else { return nil }
    pem = certificates.map(Self.block).joined(separator: "\n")
  }

  private static func block(_ digits: String) -> String {
    var lines = ["-----BEGIN CERTIFICATE-----"]
    var rest = digits[...]
    while !rest.isEmpty {
      lines.append(String(rest.prefix(lineDigits)))
      rest = rest.dropFirst(lineDigits)
    }
    return (lines + ["-----END CERTIFICATE-----"]).joined(separator: "\n")
  }
}
