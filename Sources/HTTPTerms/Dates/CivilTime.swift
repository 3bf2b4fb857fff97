/// A second of the civil calendar, in UTC.
package struct CivilTime: Sendable, Equatable {
  package let year: Int
  /// 1 to 12.
  package let month: Int
  package let day: Int
  package let hour: Int
  package let minute: Int
  package let second: Int

  /// From year 0 on.
  package init(unixSeconds: Int) {
    let days = unixSeconds / 86_400 - (unixSeconds % 86_400 < 0 ? 1 : 0)
    let ofDay = unixSeconds - days * 86_400
    // Days are counted from 1 March of year 0, so that a leap day is the last of its year.
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    hour = ofDay / 3_600
    minute = ofDay % 3_600 / 60
    second = ofDay % 60
  }

  /// Nil for a day that is in no calendar, and for a time that is in no day.
  init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    guard (0...9_999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
      (0...59).contains(minute), (0...59).contains(second)
    else { return nil }
    let days = Self.daysSince1970(year, month, day)
    self.init(unixSeconds: days * 86_400 + hour * 3_600 + minute * 60 + second)
    // 31 April would be 1 May.
    guard self.day == day else { return nil }
  }

  var unixSeconds: Int { Self.daysSince1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second }

  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// `08:49:37`.
  var clock: String { "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))" }

  /// RFC 3339, to the second.
  package var rfc3339: String { "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(clock)Z" }
}

/// With zeros in front.
func padded(_ value: Int, _ width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
