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

  /// IMF-fixdate. Nil before 1970 and after the year 9999.
  package static func text(_ unixSeconds: Double) -> String? {
    guard unixSeconds >= 0, unixSeconds < 253_402_300_800 else { return nil }
    let seconds = Int(unixSeconds)
    let time = CivilTime(unixSeconds: seconds)
    return "\(days[seconds / 86_400 % 7]), \(padded(time.day, 2)) \(months[time.month - 1]) \(padded(time.year, 4))"
      + " \(time.clock) GMT"
  }

  /// From 1 January 1970 on.
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func seconds(day: String, month: String, year: String, time: String) -> Int64? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false)
    guard let day = number(day, digits: 1...2), let month = months.firstIndex(of: month), let year = fullYear(year),
      clock.count == 3, let hour = number(clock[0], digits: 2...2), let minute = number(clock[1], digits: 2...2),
      let second = number(clock[2], digits: 2...2), second <= 60,
      // A leap second is the first of the next minute.
      let time = CivilTime(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: min(second, 59))
    else { return nil }
    return Int64(time.unixSeconds + (second == 60 ? 1 : 0))
  }

  /// Two digits mean the years from 1970 to 2069.
  private static func fullYear(_ text: String) -> Int? {
    if let short = number(text, digits: 2...2) { return short < 70 ? 2_000 + short : 1_900 + short }
    guard let year = number(text, digits: 4...4), year >= 1_970 else { return nil }
    return year
  }

  private static func number(_ text: some StringProtocol, digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy(isDigit) else { return nil }
    return Int(text)
  }
}
