import OAuthProtocol
import Testing

@Suite struct RetryAfterTests {
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
