import OAuthProtocol
import Testing

@Suite struct HTTPDateTests {
  @Test(
    "the three forms of a date are read (RFC 9110 §5.6.7)",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("Sat, 21 Nov 2026 03:17:58 GMT", 1_795_231_078),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ] as [(String, Int64)])
  func reads(text: String, seconds: Int64) {
    #expect(HTTPDate.parse(text) == seconds)
  }

  @Test(
    "what is no date is nil",
    arguments: [
      "", "tomorrow", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT",
      "Sun, 06 Xxx 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
      "Sun, 06 Nov 1969 08:49:37 GMT", "Sun, 06 Nov 19940 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49 GMT and more", String(repeating: "9", count: 1_000),
    ])
  func refuses(text: String) {
    #expect(HTTPDate.parse(text) == nil)
  }

  @Test(
    "Retry-After is at most one hour",
    arguments: [
      ("0", 0), ("7", 7), (" 7 ", 7), ("3600", 3_600), ("3601", 3_600), ("1000000000", 3_600),
      (String(repeating: "9", count: 40), 3_600), ("-5", nil), ("", nil), ("soon", nil), ("1.5", nil), ("0x10", nil),
      ("Sun, 06 Nov 1994 08:50:00 GMT", 23), ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
      ("Mon, 07 Nov 1994 08:49:37 GMT", 3_600),
    ] as [(String, Int?)])
  func retryAfter(value: String, expected: Int?) {
    #expect(RetryAfter.seconds(in: [HTTPField("retry-after", value)], now: 784_111_777) == expected)
  }

  @Test("without Retry-After there is no wait")
  func absent() { #expect(RetryAfter.seconds(in: [], now: 0) == nil) }
}
