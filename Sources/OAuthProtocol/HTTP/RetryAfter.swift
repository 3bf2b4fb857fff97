import HTTPTerms

extension HTTPAnswer {
  /// The server's clock by the answer's `Date`, Unix seconds; nil when there is none that can be read, or when the answer has
  /// lain in a cache for more than a minute (`Age`, RFC 9111 §5.1): some of those date it anew, and some do not.
  package var dateSeconds: Int64? {
    guard let date = headers.value("Date").flatMap({ HTTPDate.parse($0.trimmingBlanks()) }) else { return nil }
    guard let age = headers.value("Age")?.trimmingBlanks() else { return date }
    guard age.utf8.allSatisfy(isDigit), let seconds = Int64(age), seconds <= 60 else { return nil }
    return date
  }
}

/// `Retry-After` (RFC 9110 §10.2.3).
package enum RetryAfter {
  /// Longest wait believed, one hour: a longer one is more likely a mistake than a plan.
  package static let limitSeconds = 3_600

  /// Seconds to wait, 0…3600, or nil when the field is missing or is neither a number nor a date.
  ///
  /// `now` is Unix seconds, for the date form.
  package static func seconds(in headers: [HTTPField], now: Int64) -> Int? {
    guard let value = headers.value("Retry-After")?.trimmingBlanks(), !value.isEmpty else { return nil }
    if value.utf8.allSatisfy(isDigit) {
      // More digits than an integer holds is a long time too.
      return min(Int(value) ?? limitSeconds, limitSeconds)
    }
    guard let date = HTTPDate.parse(value) else { return nil }
    return Int(min(max(date - now, 0), Int64(limitSeconds)))
  }
}

extension StringProtocol {
  /// Without spaces and tabs at both ends.
  func trimmingBlanks() -> String {
    var rest = self[...]
    while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
    return String(rest)
  }
}
