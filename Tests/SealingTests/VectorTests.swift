import Sealing
import Testing

/// Gives the bytes of a vector, for nonces that a published example fixes.
private struct FixedRandom: RandomSource {
  let given: [UInt8]
  func bytes(_ count: Int) -> [UInt8] { Array(given.prefix(count)) }
}

private let countingKey = Array(UInt8(0)..<32)

@Suite("Sealing against published and independently computed vectors")
struct VectorTests {
  @Test(
    "SHA-256 gives the digests of FIPS 180-4",
    arguments: [
      ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
  func sha256(text: String, times: Int, digest: String) {
    let message = String(repeating: text, count: times)
    #expect(Hex.encode(Digest.sha256(message.utf8)) == digest)
    #expect(Hex.encode(Digest.sha256(Secret(message))) == digest)
    #expect(Hex.encode(Digest.sha256(message.utf8.lazy.map { $0 })) == digest, "bytes that are not contiguous")
  }

  @Test("The PKCE example of RFC 7636 Appendix B comes out of SHA-256 and base64url")
  func pkce() {
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    #expect(Base64URL.encode(Digest.sha256(verifier.utf8)) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  }

  @Test("XChaCha20-Poly1305 gives the example of draft-irtf-cfrg-xchacha-03 A.3.1")
  func aead() throws {
    let plaintext = Secret(
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
    )
    let nonce = Array(UInt8(0x40)..<0x58)
    let associatedData = try #require(Hex.decode("50515253c0c1c2c3c4c5c6c7"))
    let ciphertext = """
      bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216\
      cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c68b13\
      b52ec0875924c1c7987947deafd8780acf49
      """
    let key = try SealingKey(SecretBytes(copying: Array(UInt8(0x80)..<0xa0)))
    let sealed = try plaintext.withBytes { bytes in
      try AEAD.seal(bytes, associatedData: associatedData, key: key, random: FixedRandom(given: nonce))
    }
    #expect(Hex.encode(sealed) == Hex.encode(nonce) + ciphertext)
    #expect(try AEAD.open(sealed, associatedData: associatedData, key: key) == plaintext)
  }

  @Test("Keyed BLAKE2b gives what an independent implementation of RFC 7693 gives")
  func blake2b() throws {
    let key = try SealingKey(SecretBytes(copying: countingKey))
    #expect(
      Hex.encode(try KeyedHash.blake2b([], key: key))
        == "4e51e7a913fc80137da52880fecca175bf81e117d5c68126dc2774033517ea0d")
    #expect(
      Hex.encode(try KeyedHash.blake2b(UInt8(0)..<255, key: key))
        == "f60f5c4a575c43db6c93608515866ea998e04b35792f5a92b27aa5880cd6721e")
    #expect(
      Hex.encode(try KeyedHash.blake2b("abc".utf8, key: key, count: 64)).hasPrefix("9af0244b7da7fe29d90a89727e06a0c9"))
    #expect(throws: SealingError.self) { try KeyedHash.blake2b([], key: key, count: 15) }
    #expect(throws: SealingError.self) { try KeyedHash.blake2b([], key: key, count: 65) }
  }

  @Test(
    "Derived keys are BLAKE2b with the number as salt and the purpose as personalisation",
    arguments: [
      (UInt64(0), "c13fcc2e6cd0cd0f82d93b163a5696c5105378f8c629d36baf3ae0239de9c280"),
      (1, "13fea52bb8cba063f3ed93de27ed07e06d8c6367474e6ae4c9282913ac3c3a03"),
      (.max, "500c3043b2b9177ec843ecbe9f98f92d8c11fbbd10a225ab844548de89c21d55"),
    ])
  func derivation(number: UInt64, expected: String) throws {
    let key = try SealingKey(SecretBytes(copying: countingKey))
    #expect(try key.derived(number, for: "KDF test").withBytes { Hex.encode($0) } == expected)
    #expect(throws: SealingError.self) { try key.derived(number, for: "short") }
    let together = try key.derived([7, number, 8], for: "KDF test").map { $0.withBytes { Hex.encode($0) } }
    #expect(together[1] == expected && Set(together).count == 3, "in one place, each is the same key")
    #expect(throws: SealingError.self) { try key.derived([], for: "KDF test") }
  }

  @Test(
    "Argon2id gives what the reference implementation gives",
    arguments: [
      (
        "correct horse battery staple", UInt32(2), UInt32(8_192),
        "a891dd91a3d123add6ea78ceedcc94a7f1dc1e4ca480e57e6f240a113662ea2f"
      ),
      ("", 3, 16_384, "f3f1ab0f545795121025ed24a89948fe53b0a38ad86c2d80c49ada0a77f33e0d"),
    ])
  func argon2id(password: String, passes: UInt32, memoryKiB: UInt32, expected: String) throws {
    let cost = try PasswordHash.Cost(passes: passes, memoryKiB: memoryKiB)
    let key = try PasswordHash.argon2id(Secret(password), salt: Array(0..<16), cost: cost)
    #expect(key.withBytes { Hex.encode($0) } == expected)
  }
}
