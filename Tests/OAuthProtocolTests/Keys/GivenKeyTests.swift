import OAuthProtocol
import Sealing
import Testing

@Suite("Keys as somebody gives them")
struct GivenKeyTests {
  private static let d = "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"
  private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"

  private static func ec(_ members: String = "", d: String = d, x: String = x) -> String {
    #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(x)","d":"\#(d)"\#(members)}"#
  }

  private func reason(_ text: String) -> String {
    do throws(ProtocolError) {
      _ = try GivenKey(Secret(text))
      return "taken"
    } catch { return "\(error)" }
  }

  @Test("PEM is read with line ends, blanks in their place, or neither, and with what stands around it")
  func pem() throws {
    let key = Secret([UInt8](0..<48))
    let body = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4v"
    for text in [
      "-----BEGIN PRIVATE KEY-----\n\(body)\n-----END PRIVATE KEY-----\n",
      "-----BEGIN EC PARAMETERS----- BggqhkjOPQMBBw== -----END EC PARAMETERS----- "
        + "-----BEGIN EC PRIVATE KEY----- \(body.prefix(32)) \(body.dropFirst(32)) -----END EC PRIVATE KEY-----",
      "-----BEGIN RSA PRIVATE KEY-----\(body)-----END RSA PRIVATE KEY-----",
    ] { #expect(try GivenKey(Secret(text)).der == key) }
  }

  @Test("a JWK brings its alg and kid, and Google's file its private_key_id")
  func names() throws {
    let jwk = try GivenKey(Secret(Self.ec(#","alg":"ES256","kid":"mine""#)))
    #expect(jwk.algorithm == "ES256" && jwk.keyID == "mine")
    // SEC 1, with the curve's name and the point.
    #expect(jwk.der.withBytes { $0.count == 121 && $0[0] == 0x30 && $0[1] == 0x77 })
    let google = try GivenKey(
      Secret(
        #"{"type":"service_account","private_key_id":"7f","#
          + #""private_key":"-----BEGIN PRIVATE KEY-----\nAAEC\n-----END PRIVATE KEY-----\n"}"#))
    #expect(google.der == Secret([0, 1, 2]) && google.keyID == "7f" && google.algorithm == nil)
    // Not understood is not the same as left out.
    #expect(try GivenKey(Secret(Self.ec(#","alg":7"#))).algorithm?.isEmpty == true)
  }

  @Test(
    "what is no private key is refused with what it is, and not repeated",
    arguments: [
      ("", "neither"), ("hello", "neither"), ("[]", "neither"), ("{", "cut off"), ("{}", "kty"),
      ("-----BEGIN PUBLIC KEY-----AAEC-----END PUBLIC KEY-----", "public key"),
      ("-----BEGIN CERTIFICATE-----AAEC-----END CERTIFICATE-----", "certificate"),
      ("-----BEGIN ENCRYPTED PRIVATE KEY-----AAEC-----END ENCRYPTED PRIVATE KEY-----", "encrypted"),
      (
        "-----BEGIN RSA PRIVATE KEY----- Proc-Type: 4,ENCRYPTED DEK-Info: AES AAEC -----END RSA PRIVATE KEY-----",
        "encrypted"
      ),
      ("-----BEGIN PRIVATE KEY-----AAEC", "cut off"),
      ("-----BEGIN PRIVATE KEY-----A*EC-----END PRIVATE KEY-----", "base 64"),
      ("-----BEGIN PRIVATE KEY-----A=EC-----END PRIVATE KEY-----", "base 64"),
      (
        "-----BEGIN PRIVATE KEY-----AAEC-----END PRIVATE KEY----------BEGIN PRIVATE KEY-----AAEC-----END PRIVATE KEY-----",
        "more than one"
      ),
      (#"{"kty":"oct","k":"\#(x)"}"#, "shared secret"), (#"{"kty":"none"}"#, "kty"), (#"{"kty":7}"#, "kty"),
      (#"{"kty":"EC","crv":"secp256k1"}"#, "crv"), (#"{"kty":"OKP","crv":"X25519","x":"\#(x)","d":"\#(d)"}"#, "crv"),
      (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(x)"}"#, "private key is needed"),
      (#"{"kty":"RSA","n":"\#(x)","e":"AQAB","d":"\#(d)"}"#, "private key is needed whole"),
      (ec(#","d":"\#(x)""#), "twice"), (ec(d: "AAEC"), "base64url"), (ec(d: d + "="), "base64url"),
      (ec(d: ""), "base64url"), (ec(x: String(repeating: "A", count: 10_000)), "base64url"),
      (ec(d: String(repeating: "A", count: 33_000)), "longer than"),
      (String(repeating: #"{"a":"#, count: 40), "nested"),
    ])
  func hostile(text: String, expected: String) {
    let reason = reason(text)
    #expect(reason.contains(expected), "\(reason)")
    #expect(!reason.contains(Self.d) && !reason.contains("AAEC"))
  }

  @Test("Certificates are read in their order, from the text of a key or their own; a text that is too long is refused")
  func certificates() throws {
    func block(_ label: String, _ body: String) -> String {
      "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
    }
    let key = block("PRIVATE KEY", "AAEC")
    let two = block("CERTIFICATE", "AQID") + "text between" + block("CERTIFICATE", "BAUG")
    for text in [two, key + two, two.replacing("\n", with: " ")] {
      #expect(try GivenKey.certificates(in: Secret(text)) == [[1, 2, 3], [4, 5, 6]])
    }
    #expect(try GivenKey.certificates(in: Secret(key)) == [])
    #expect(GivenKey.isCertificateAlone(Secret(two)))
    for text in [key + two, key, "", block("ENCRYPTED PRIVATE KEY", "AAEC") + two] {
      #expect(!GivenKey.isCertificateAlone(Secret(text)))
    }
    for text in [
      "-----BEGIN CERTIFICATE-----\nAQID", block("CERTIFICATE", "!"),
      String(repeating: " ", count: GivenKey.limitBytes) + two,
    ] {
      #expect(throws: ProtocolError.self) { try GivenKey.certificates(in: Secret(text)) }
    }
  }
}
