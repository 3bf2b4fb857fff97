import HTTPTerms
import OAuthProtocol
import Testing

@Suite struct OAuthErrorTests {
  @Test("a code is short, printable and without quotes", arguments: ["", "a\n", "a\"b", "a\\b", "é", "\u{1B}"])
  func badCodes(code: String) { #expect(OAuthError(code: code) == nil) }

  @Test("what comes with an error is escaped, cut, or left out")
  func details() throws {
    let long = String(repeating: "x", count: 5_000)
    let error = try #require(OAuthError(code: "e", explanation: "\u{1B}" + long))
    #expect(error.explanation?.hasPrefix("\\u{1b}xxx") == true)
    #expect(error.explanation?.count == 300)
    #expect(try #require(OAuthError(code: "e", explanation: "")).explanation == nil)
  }

  @Test("errors of this module are sentences without control characters")
  func sentences() {
    for entry in ["\u{1B}[2J", "https://u:p@h", "a\nb"] {
      do {
        _ = try WebURL.read(entry)
        Issue.record("accepted")
      } catch {
        #expect("\(error)".hasSuffix(".") && "\(error)".unicodeScalars.allSatisfy { $0.value >= 0x20 })
      }
    }
  }
}
