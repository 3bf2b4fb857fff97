/// IMF-fixdate (RFC 9110 §5.6.7), from Unix seconds.
enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Nil before 1970 and after the year 9999.
  static func text(_ unixSeconds: Double) -> String? {
    guard unixSeconds >= 0, unixSeconds < 253_402_300_800 else { return nil }
    let seconds = Int(unixSeconds)
    let day = seconds / 86_400
    let ofDay = seconds % 86_400
    // The civil calendar counted from 1 March of year 0, where leap days come last.
    let shifted = day + 719_468
    let era = shifted / 146_097
    let ofEra = shifted % 146_097
    let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let dayOfYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 2 : monthFromMarch - 10
    let year = era * 400 + yearOfEra + (month < 2 ? 1 : 0)
    let time = [ofDay / 3_600, ofDay / 60 % 60, ofDay % 60].map { padded($0, 2) }.joined(separator: ":")
    return "\(days[day % 7]), \(padded(dayOfMonth, 2)) \(months[month]) \(padded(year, 4)) \(time) GMT"
  }

  private static func padded(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
