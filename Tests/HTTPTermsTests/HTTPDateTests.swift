@testable import HTTPTerms
import Testing

@Suite struct HTTPDateTests {
  @Test(
    "the three forms of a date are read (RFC 9110 §5.6.7)",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
      ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Sat, 21 Nov 2026 03:17:58 GMT", 1_795_231_078),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ] as [(String, Int64)])
  func reads(text: String, seconds: Int64) {
    #expect(HTTPDate.parse(text) == seconds)
  }

  @Test(
    "what is no date is nil",
    arguments: [
      "", "tomorrow", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT",
      "Thu, 31 Apr 2026 08:49:37 GMT", "Sun, 29 Feb 2026 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Xxx 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
      "Sun, 06 Nov 1994 08:60:37 GMT",
      "Sun, 06 Nov 1969 08:49:37 GMT", "Sun, 06 Nov 19940 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49 GMT and more", String(repeating: "9", count: 1_000),
    ])
  func refuses(text: String) {
    #expect(HTTPDate.parse(text) == nil)
  }

  @Test(
    "the first form is written, and read back", arguments: [0, 784_111_777, 951_782_400, 253_402_300_799] as [Int64])
  func writes(seconds: Int64) throws {
    let text = try #require(HTTPDate.text(Double(seconds)))
    #expect(text.utf8.count == 29)
    #expect(HTTPDate.parse(text) == seconds)
    if seconds == 784_111_777 { #expect(text == "Sun, 06 Nov 1994 08:49:37 GMT") }
  }

  @Test("nothing is written for what has no such form", arguments: [-1, 253_402_300_800, .infinity, .nan] as [Double])
  func unwritable(seconds: Double) { #expect(HTTPDate.text(seconds) == nil) }
}

@Suite struct CivilTimeTests {
  @Test("400 years follow each other day by day, and are counted back")
  func days() {
    var (year, month, day) = (1970, 1, 1)
    var seconds = 86_399
    while year < 2370 {
      let time = CivilTime(unixSeconds: seconds)
      guard (time.year, time.month, time.day) == (year, month, day), time.unixSeconds == seconds,
        time.clock == "23:59:59"
      else {
        Issue.record("\(year)-\(month)-\(day) is \(time.rfc3339)")
        return
      }
      seconds += 86_400
      let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
      let length = month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
      day += 1
      if day > length { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
  }

  @Test(
    "is written as RFC 3339 has it",
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (951_868_799, "2000-02-29T23:59:59Z"),
      (1_709_164_800, "2024-02-29T00:00:00Z"), (1_709_251_200, "2024-03-01T00:00:00Z"),
      (1_735_689_599, "2024-12-31T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
      (1_795_231_078, "2026-11-21T03:17:58Z"),
    ])
  func times(unix: Int, text: String) { #expect(CivilTime(unixSeconds: unix).rfc3339 == text) }
}
