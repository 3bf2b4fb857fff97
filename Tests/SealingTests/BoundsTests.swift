import Sealing
import Testing

@Suite("Sealing refuses what is wrong")
struct BoundsTests {
  private let random = SystemRandom()

  @Test("A seal with any bit changed, any cut, another key or other associated data does not open")
  func tamperedSeals() throws {
    let key = try SealingKey(random: random)
    let plaintext = Secret("a payload of no great length")
    let sealed = try plaintext.withBytes { bytes in
      try AEAD.seal(bytes, associatedData: [1, 2, 3], key: key, random: random)
    }
    #expect(sealed.count == plaintext.count + AEAD.overhead)
    #expect(try AEAD.open(sealed, associatedData: [1, 2, 3], key: key) == plaintext)
    for bit in 0..<sealed.count * 8 {
      var changed = sealed
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: SealingError.notAuthentic) { try AEAD.open(changed, associatedData: [1, 2, 3], key: key) }
    }
    for count in 0..<sealed.count {
      let cut = Array(sealed.prefix(count))
      #expect(throws: SealingError.notAuthentic) { try AEAD.open(cut, associatedData: [1, 2, 3], key: key) }
    }
    #expect(throws: SealingError.notAuthentic) { try AEAD.open(sealed, associatedData: [1, 2], key: key) }
    let other = try SealingKey(random: random)
    #expect(throws: SealingError.notAuthentic) { try AEAD.open(sealed, associatedData: [1, 2, 3], key: other) }
  }

  @Test("Two seals of the same bytes differ")
  func freshNonces() throws {
    let key = try SealingKey(random: random)
    let seals = try (0..<2).map { _ in
      try Secret("same").withBytes { bytes in
        try AEAD.seal(bytes, associatedData: [], key: key, random: random)
      }
    }
    #expect(seals[0] != seals[1])
  }

  @Test("An empty plaintext can be sealed and opened")
  func emptyPlaintext() throws {
    let key = try SealingKey(random: random)
    let sealed = try AEAD.seal(
      UnsafeRawBufferPointer(start: nil, count: 0), associatedData: [], key: key, random: random)
    #expect(try AEAD.open(sealed, associatedData: [], key: key).isEmpty)
  }

  @Test(
    "Argon2id costs outside their bounds are refused before any memory is asked for",
    arguments: [(UInt32(0), UInt32(65_536)), (17, 65_536), (2, 8_191), (2, 2_097_153), (.max, .max), (0, 0)])
  func costs(passes: UInt32, memoryKiB: UInt32) {
    #expect(throws: SealingError.self) { try PasswordHash.Cost(passes: passes, memoryKiB: memoryKiB) }
  }

  @Test("Argon2id refuses salts of another length and endless passwords")
  func argonInputs() throws {
    let cost = try PasswordHash.Cost(passes: 1, memoryKiB: 8_192)
    #expect(throws: SealingError.self) { try PasswordHash.argon2id(Secret("x"), salt: [1], cost: cost) }
    let long = Secret(repeatElement(UInt8(ascii: "x"), count: 4_097))
    #expect(throws: SealingError.self) {
      try PasswordHash.argon2id(long, salt: [UInt8](repeating: 0, count: 16), cost: cost)
    }
  }

  @Test("Guarded memory keeps its bytes, knows whether it is locked, and refuses odd sizes")
  func guardedMemory() throws {
    let bytes = try SecretBytes(copying: [1, 2, 3])
    #expect(bytes.withBytes { Array($0) } == [1, 2, 3])
    let isLocked = bytes.isLocked
    #expect(isLocked)
    for count in [0, -1, 65_537] {
      #expect(throws: SealingError.self) { _ = try SecretBytes(count: count, random: random) }
    }
    #expect(throws: SealingError.self) { _ = try SealingKey(SecretBytes(copying: [1, 2, 3])) }
    struct Short: RandomSource { func bytes(_ count: Int) -> [UInt8] { [] } }
    #expect(throws: SealingError.self) { _ = try SealingKey(random: Short()) }
  }

  @Test("Random bytes come in the number asked for and never twice")
  func randomness() {
    for count in [0, 1, 16, 4_096] { #expect(random.bytes(count).count == count) }
    #expect(random.bytes(-1).isEmpty)
    #expect(Set((0..<100).map { _ in random.bytes(16) }).count == 100)
  }

  @Test("A secret prints and mirrors as <secret>, compares by its bytes, and can be filled in place")
  func secrets() throws {
    let secret = Secret("hunter2")
    #expect("\(secret)" == "<secret>")
    #expect(String(reflecting: secret) == "<secret>")
    #expect(!String(describing: Mirror(reflecting: [secret])).contains("hunter2"))
    #expect(secret == Secret("hunter2"))
    #expect(secret != Secret("hunter3"))
    #expect(secret != Secret("hunter"))
    #expect(secret.reveal() == "hunter2")
    #expect(Secret(count: 3) { $0.copyBytes(from: [7, 8, 9]) } == Secret([7, 8, 9]))
    #expect(Secret(count: 0) { _ in }.isEmpty)
    struct Refusal: Error {}
    #expect(throws: Refusal.self) { try Secret(count: 3) { _ in throw Refusal() } }
  }

  @Test("Wiping an array of bytes leaves it empty")
  func wiping() {
    var bytes: [UInt8] = [1, 2, 3]
    bytes.wipe()
    #expect(bytes.isEmpty)
  }
}
