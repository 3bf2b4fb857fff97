import Testing

@testable import oauthctl

@Suite("Words of a server that repeat the token it was sent")
struct RepeatedTokenTests {
  private static let token = "eyJhbGciOi.JFZERTQSJ9-x_7Qd"

  @Test(
    "A piece of eight letters and digits is found in either case, behind signs and percent signs",
    arguments: [
      token, "GciOiJFZ", "x:GCIOIJFZ:y", "hbGciOi.J", "%65%79%4A%68%62%47%63%69", "e-y-J-h-b-G-c-i", "TQSJ9-x_7Q",
    ])
  func found(_ word: String) { #expect(RepeatedToken.appears(Self.token, in: ["read", word])) }

  @Test(
    "Scopes, shorter pieces and broken percent signs are not",
    arguments: ["read:user", "GciOiJF", "%", "%6", "%zz", ""])
  func notFound(_ word: String) { #expect(!RepeatedToken.appears(Self.token, in: [word])) }

  @Test("A piece that is spread over words is found")
  func spread() { #expect(RepeatedToken.appears(Self.token, in: ["read", "eyJhb", "GciOi", "JFZER"])) }

  @Test("A token too short for a piece is in nothing")
  func short() { #expect(!RepeatedToken.appears("abc", in: ["abc"])) }
}
