import Sealing
import Testing

@Suite("Sealing to a public key")
struct SealedBoxTests {
  private func pair(_ seed: UInt8) throws -> SealedBox.KeyPair {
    try SealedBox.KeyPair(seed: SealingKey(SecretBytes(copying: [UInt8](repeating: seed, count: 32))))
  }

  private func sealed(_ text: String, to publicKey: SealedBox.PublicKey) throws -> [UInt8] {
    try Secret(text).withBytes { (bytes: UnsafeRawBufferPointer) throws(SealingError) in try publicKey.seal(bytes) }
  }

  @Test("the owner of the key pair opens it, and nobody else; no bit may differ")
  func opens() throws {
    let (mine, other) = try (pair(1).publicKey, pair(2).publicKey)
    let sealed = try sealed("text", to: #require(SealedBox.PublicKey(mine.bytes)))
    #expect(sealed.count == 4 + SealedBox.overhead && mine != other)
    #expect(try pair(1).open(sealed) == Secret("text"))
    #expect(throws: SealingError.notAuthentic) { try pair(2).open(sealed) }
    for place in sealed.indices {
      var changed = sealed
      changed[place] ^= 1
      #expect(throws: SealingError.notAuthentic, "byte \(place)") { try pair(1).open(changed) }
    }
    for count in [0, 1, SealedBox.overhead - 1, SealedBox.overhead] {
      #expect(throws: SealingError.notAuthentic) { try pair(1).open(Array(sealed.prefix(count))) }
    }
  }

  @Test("two sealings of the same are not alike, and nothing is sealed, too")
  func fresh() throws {
    let publicKey = try pair(1).publicKey
    #expect(try sealed("text", to: publicKey) != sealed("text", to: publicKey))
    #expect(try pair(1).open(sealed("", to: publicKey)) == Secret(""))
  }

  @Test("public keys of another length, and those that anybody could open for, are refused")
  func unusable() throws {
    for count in [0, 31, 33] { #expect(SealedBox.PublicKey([UInt8](repeating: 9, count: count)) == nil) }
    let zero = try #require(SealedBox.PublicKey([UInt8](repeating: 0, count: 32)))
    #expect(throws: SealingError.outOfRange("public key")) { try sealed("text", to: zero) }
  }
}
