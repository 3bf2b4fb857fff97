import OAuthProtocol
import OAuthTerms
import Sealing
import Testing

@testable import Signing

/// The keys of RFC 7515 A.2 and A.3, and of RFC 8037 A.1.
enum Vectors {
  static let rsa =
    #"{"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-y"#
    + #"RT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WT"#
    + #"BEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAc"#
    + #"DTW9gb54h4FRWyuXpoQ","e":"AQAB","d":"Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTe"#
    + #"XZx9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfp"#
    + #"RLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBi"#
    + #"B4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ","p":"4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqB"#
    + #"dss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc","#
    + #""q":"uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDmpe"#
    + #"_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc","dp":"BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeD"#
    + #"v8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mb"#
    + #"r1C1XsmvkxHQAdYo0","dq":"h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9"#
    + #"U0ajaHF-NKJnwgjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU","qi":"IYd7DHOhrWvxkwPQsRM2t"#
    + #"OgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9Sbs"#
    + #"xYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U"}"#
  static let ec =
    #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
    + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}"#
  static let edwards =
    #"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","#
    + #""x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#

  static func key(_ jwk: String) throws -> ClientKey {
    let given = try GivenKey(Secret(jwk))
    return try ClientKey(der: given.der, algorithm: given.algorithm, keyID: given.keyID)
  }
}

@Suite("Signatures")
struct SigningTests {
  @Test(
    "a signature is the one of the RFC, where the algorithm makes one alone (RFC 7515 A.2, RFC 8037 A.4)",
    arguments: [
      (
        Vectors.rsa,
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t"
          + "1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12j"
          + "zDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQ"
          + "Ge77Rw"
      ),
      (
        Vectors.edwards, "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
      ),
    ])
  func vectors(jwk: String, input: String, signature: String) throws {
    #expect(Base64URL.encode(try Vectors.key(jwk).signature(of: Array(input.utf8))) == signature)
  }

  @Test("a key is named by the thumbprint of its public half (RFC 7638 §3.1, RFC 8037 A.3)")
  func thumbprints() throws {
    #expect(try Vectors.key(Vectors.edwards).keyID == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    let modulus =
      "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhM"
      + "stn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5"
      + "hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
    let key = PublicKey(.rsa, try #require(Base64URL.decode(modulus)), [1, 0, 1])
    #expect(key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
  }

  @Test("the public JWK has the public half alone, with what the key is named by and signs by")
  func publicHalf() throws {
    var jwk = Vectors.ec
    jwk.removeLast()
    let key = try Vectors.key(jwk + #","kid":"mine","alg":"ES256"}"#)
    #expect(
      key.publicJWK
        == #"{"crv":"P-256","kty":"EC","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
        + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","alg":"ES256","kid":"mine","use":"sig"}"#)
  }

  @Test(
    "what the vault keeps is the whole key again, and is known for what it is", arguments: SignatureAlgorithm.allCases)
  func stored(algorithm: SignatureAlgorithm) throws {
    // Making one takes a while; the numbers of the RFC do as well.
    let key =
      switch algorithm {
      case .es256, .es384, .edDSA: try ClientKey(newFor: algorithm)
      case .rs256, .ps256: try ClientKey(der: try GivenKey(Secret(Vectors.rsa)).der, algorithm: algorithm.rawValue)
      }
    let again = try ClientKey(stored: key.stored)
    #expect(again.publicJWK == key.publicJWK && again.algorithm == algorithm)
    #expect(again.key.pkcs8 == key.key.pkcs8)
    #expect(ClientKey.isStored(key.stored) && !ClientKey.isStored(Secret("s3cret")))
    let length = [.es256: 64, .es384: 96, .edDSA: 64, .rs256: 256, .ps256: 256][algorithm]
    #expect(try again.signature(of: Array("a.b".utf8)).count == length)
    for broken in ["", "private-key-1", "private-key-1 ES256 a", "private-key-1 ES256 a b", "s3cret"] {
      #expect(throws: SigningError.self) { try ClientKey(stored: Secret(broken)) }
    }
  }

  @Test("no two new keys are alike, and none signs by another's algorithm")
  func fresh() throws {
    let (one, two) = (try ClientKey(newFor: .es256), try ClientKey(newFor: .es256))
    #expect(one.keyID != two.keyID)
    for algorithm in SignatureAlgorithm.allCases where algorithm != .es256 {
      #expect(throws: SigningError.self) { try one.key.signature(of: [], algorithm) }
    }
  }

  @Test(
    "an alg that the key cannot do, none among them, and a kid that is none are refused",
    arguments: [
      ("none", "a"), ("HS256", "a"), ("ES256", "a"), ("", "a"), ("RS256", ""), ("RS256", "a\"b"), ("RS256", "a b"),
    ])
  func misfits(algorithm: String, keyID: String) throws {
    let der = try GivenKey(Secret(Vectors.rsa)).der
    #expect(throws: SigningError.self) { try ClientKey(der: der, algorithm: algorithm, keyID: keyID) }
  }

  @Test("what is no key, or another's half, is refused and not signed with")
  func noKeys() throws {
    let whole = try ClientKey(newFor: .es256).key.pkcs8.withBytes { Array($0) }
    let other = try ClientKey(newFor: .es256).key.pkcs8.withBytes { Array($0) }
    // The public point stands at the end of both.
    let mixed = Array(whole.dropLast(65)) + other.suffix(65)
    for der in [[], [0x30], Array(whole.dropLast()), whole + [0], mixed, Array(repeating: 0x30, count: 8_193)] {
      #expect(throws: SigningError.self) { try SigningKey(der: Secret(der), isForeign: true) }
    }
    #expect(throws: Never.self) { try SigningKey(der: Secret(whole), isForeign: true) }
  }

  @Test("a key of another algorithm is refused by that, before a number of it is read")
  func otherAlgorithms() {
    // PKCS #8 of DSA and of DH keys whose numbers are none. Large ones would be computed with for minutes.
    let dsa: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x38, 0x04, 0x01]
    let diffieHellman: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3E, 0x02, 0x01]
    for algorithm in [dsa, diffieHellman] {
      let der: [UInt8] = [0x30, 0x11, 0x02, 0x01, 0x00, 0x30, 0x09, 0x06, 0x07] + algorithm + [0x04, 0x01, 0x00]
      let error = #expect(throws: SigningError.self) { try SigningKey(der: Secret(der), isForeign: true) }
      #expect(error?.description.contains("none of these keys") == true)
    }
  }
}
