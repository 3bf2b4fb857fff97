import Sealing
import Testing

@Suite("HMAC")
struct HMACTests {
  @Test("HMAC with SHA-256 is that of RFC 7515 A.1 and RFC 4231 §4.7")
  func vectors() throws {
    let key = try #require(
      Base64URL.decode("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"))
    let input =
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
      + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    #expect(
      Base64URL.encode(HMAC.sha256(input.utf8, key: Secret(key))) == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    // A key that is longer than a block.
    let long = HMAC.sha256(
      "Test Using Larger Than Block-Size Key - Hash Key First".utf8, key: Secret(Array(repeating: 0xAA, count: 131)))
    #expect(Hex.encode(long) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }
}
