import HTTPTerms

/// HTTP-date (RFC 9110 §5.6.7) in its three forms, as Unix seconds.
package enum HTTPDate {
  /// Nil for anything that is not one of the three forms or not a date from 1970 to 9999.
  package static func parse(_ text: String) -> Int64? {
    guard (24...64).contains(text.utf8.count) else { return nil }
    // IMF-fixdate `Sun, 06 Nov 1994 08:49:37 GMT`, RFC 850 `Sunday, 06-Nov-94 08:49:37 GMT`,
    // asctime `Sun Nov  6 08:49:37 1994`.
    var words = text.split(separator: " ").map(String.init)
    if words.count == 4 {
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard date.count == 3 else { return nil }
      words.replaceSubrange(1...1, with: date)
    }
    guard let name = words.first else { return nil }
    switch (words.count, name.hasSuffix(",")) {
    case (6, true):
      guard words[5] == "GMT" else { return nil }
      return seconds(day: words[1], month: words[2], year: words[3], time: words[4])
    case (5, false): return seconds(day: words[2], month: words[1], year: words[4], time: words[3])
    default: return nil
    }
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func seconds(day: String, month: String, year: String, time: String) -> Int64? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false)
    guard let day = number(day, digits: 1...2), (1...31).contains(day),
      let month = months.firstIndex(of: month).map({ Int64($0) + 1 }), let year = fullYear(year), clock.count == 3,
      let hour = number(clock[0], digits: 2...2), hour < 24, let minute = number(clock[1], digits: 2...2), minute < 60,
      let second = number(clock[2], digits: 2...2), second <= 60
    else { return nil }
    return daysSince1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
  }

  /// Two digits mean the years from 1970 to 2069.
  private static func fullYear(_ text: String) -> Int64? {
    if let short = number(text, digits: 2...2) { return short < 70 ? 2_000 + short : 1_900 + short }
    guard let year = number(text, digits: 4...4), year >= 1_970 else { return nil }
    return year
  }

  private static func number(_ text: some StringProtocol, digits: ClosedRange<Int>) -> Int64? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy(isDigit) else { return nil }
    return Int64(text)
  }

  /// Days of the civil calendar; March is the first month, so that the leap day is the last of a year.
  private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let y = month <= 2 ? year - 1 : year
    let era = y / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

extension HTTPAnswer {
  /// The server's clock by the answer's `Date`, Unix seconds; nil when there is none that can be read, or when the answer
  /// has lain in a cache (RFC 9111 §5.1).
  package var dateSeconds: Int64? {
    headers.value("Age") == nil ? headers.value("Date").flatMap { HTTPDate.parse($0.trimmingBlanks()) } : nil
  }
}

/// `Retry-After` (RFC 9110 §10.2.3).
package enum RetryAfter {
  /// Longest wait believed: one hour.
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
