/// Why OpenSSL gave up a connection, as its own number (`SSL_R_…` in its sslerr.h). libcurl has no code for that: it hands
/// the number on in the text of its failure alone, as in `error:0A00010B:SSL routines::wrong version number`.
struct OpenSSLReason: Equatable {
  /// What came from the other end is no record of TLS (`SSL_R_WRONG_VERSION_NUMBER`), as where a server speaks plain http.
  static let wrongVersionNumber = OpenSSLReason(number: 267)

  /// Library 20 of OpenSSL is TLS.
  private static let mark = "error:0A"
  /// The reason of an alert that came from the other end is 1000 and its number.
  private static let alerts = 1_000

  let number: Int

  /// The number of the alert (RFC 8446 §6) that the other end sent; below 0: it sent none.
  var alert: Int { number - Self.alerts }

  private init(number: Int) { self.number = number }

  /// The first one in libcurl's `text`; nil: there is none.
  init?(in text: String) {
    guard let start = text.range(of: Self.mark) else { return nil }
    let digits = text[start...].prefix { $0.isHexDigit }
    guard digits.count == 6, let number = Int(digits, radix: 16) else { return nil }
    self.number = number
  }
}

extension String {
  /// The place behind `mark`, where that is in it.
  fileprivate func range(of mark: String) -> Index? {
    indices.first { self[$0...].hasPrefix(mark) }.map { index($0, offsetBy: mark.count) }
  }
}
