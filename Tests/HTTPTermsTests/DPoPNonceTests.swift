import HTTPTerms
import Testing

@Suite("The nonce of a server")
struct DPoPNonceTests {
  @Test(
    "one of up to 1024 bytes of NQCHAR is taken (RFC 9449 §8.1)", arguments: ["a", "eyJ7S_zG.eyJH0-Z.HX4w-7v", "!#[]~"])
  func taken(nonce: String) {
    #expect(DPoPNonce.given(by: [nonce]) == nonce)
    #expect(DPoPNonce.given(by: [nonce, nonce]) == nonce)
  }

  @Test(
    "what could end a field or a string, is too long, empty, or contradicts itself is none",
    arguments: [
      [], [""], ["a b"], ["a\r\nX: y"], ["a\u{0}"], ["a\u{1B}[2J"], ["a\"b"], ["a\\b"], ["é"], ["a", "b"], ["a", ""],
      [String(repeating: "n", count: 1_025)], [String(repeating: "n", count: 5_000_000)],
    ])
  func refused(values: [String]) { #expect(DPoPNonce.given(by: values) == nil) }

  @Test("1024 bytes are none too many")
  func longest() {
    let nonce = String(repeating: "n", count: 1_024)
    #expect(DPoPNonce.given(by: [nonce]) == nonce)
  }
}
