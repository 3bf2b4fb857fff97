import Sealing
import Testing

@Suite("Encodings")
struct EncodingTests {
  @Test(
    "base64url writes and reads the vectors of RFC 4648 §10 without padding",
    arguments: [
      ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
      ("foobar", "Zm9vYmFy"),
    ])
  func base64Vectors(plain: String, encoded: String) {
    #expect(Base64URL.encode(plain.utf8) == encoded)
    #expect(Base64URL.decode(encoded) == Array(plain.utf8))
  }

  @Test("base64url uses the URL alphabet and brings every length and byte back")
  func base64RoundTrips() {
    #expect(Base64URL.encode([0xfb, 0xff, 0xbf]) == "-_-_")
    for count in 0...300 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
      #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
    }
  }

  @Test(
    "base64url refuses padding, blanks, the other alphabet and stray bits",
    arguments: ["Zg==", "Zh", "Z", "Zm9v ", " Zm9v", "Zm9v\n", "-+-+", "a/b_", "Zm8=", "Zm\u{0}9v", "é"])
  func base64Refusals(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }

  @Test("Hex writes lower case, reads both, refuses the rest")
  func hex() {
    #expect(Hex.encode([0x00, 0x7f, 0xab, 0xff]) == "007fabff")
    #expect(Hex.decode("007fABff") == [0x00, 0x7f, 0xab, 0xff])
    #expect(Hex.decode("") == [])
    for text in ["0", "0g", "é", "0x10", " 00"] { #expect(Hex.decode(text) == nil) }
  }
}
