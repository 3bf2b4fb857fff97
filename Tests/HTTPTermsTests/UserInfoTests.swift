import HTTPTerms
import Testing

@Suite("User names and passwords in URLs")
struct UserInfoTests {
  @Test(
    "stand before the host, and nowhere else",
    arguments: [
      ("https://u:p@h/", true), ("https://u@h", true), ("ftp://u:p@h", true), ("https://h/@scope", false),
      ("https://h?a=b@c", false), ("urn:x:a@b", false), ("", false), ("u:p@h", false), ("https://", false),
    ])
  func stands(uri: String, stands: Bool) { #expect(UserInfo.stands(in: uri) == stands) }

  @Test(
    "are cut out of what is shown, in whatever a person has written",
    arguments: [
      ("https://u:p@h/x", "…@h/x"), ("u:p#a@h", "…@h"), ("u:p@a@h", "…@h"), ("h/x", "h/x"), ("", ""), ("@", "…@"),
    ])
  func cut(text: String, shown: String) { #expect(UserInfo.cut(from: text) == shown) }
}
