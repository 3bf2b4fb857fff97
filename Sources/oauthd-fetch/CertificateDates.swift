import Glibc

/// A certificate that is refused for its dates may be right, and this machine's clock wrong: the failure tells both.
enum CertificateDates {
  /// OpenSSL's verify results X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED, as libcurl hands them on.
  private static let refusals = [9, 10]

  /// What to append to the failure's text; empty where the dates were not the cause. `now`: Unix seconds.
  static func hint(verifyResults: [Int], now: time_t) -> String {
    guard areRefused(verifyResults: verifyResults), let clock = clock(now) else { return "" }
    return "; this machine's clock says \(clock): check `date`"
  }

  static func areRefused(verifyResults: [Int]) -> Bool { verifyResults.contains(where: refusals.contains) }

  private static func clock(_ now: time_t) -> String? {
    var now = now
    var parts = tm()
    guard gmtime_r(&now, &parts) != nil else { return nil }
    var text = [CChar](repeating: 0, count: 32)
    let count = strftime(&text, text.count, "%Y-%m-%d %H:%M UTC", &parts)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
