/// Whether a certificate was refused for its name alone. libcurl looks at that itself, once OpenSSL has found the certificate good,
/// and has neither a code nor a verify result for it: both of its texts speak of the certificate's subject name.
enum CertificateName {
  private static let mark = "certificate subject name"

  static func isRefused(in text: String) -> Bool { text.indices.contains { text[$0...].hasPrefix(mark) } }
}
