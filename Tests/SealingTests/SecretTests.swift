import Testing

@testable import Sealing

@Suite("Secrets at rest")
struct SecretTests {
  @Test("A secret lies enciphered, no two of them alike, and opens to its bytes every time", arguments: [1, 40, 8_000])
  func enciphered(count: Int) {
    let plain = [UInt8](repeating: UInt8(ascii: "a"), count: count)
    let (one, other) = (Secret(plain), Secret(plain))
    // A single byte of a cipher may come out as itself.
    if count > 1 {
      #expect(!one.storage.elementsEqual(plain) && !one.storage.elementsEqual(other.storage))
    }
    for _ in 0..<3 { #expect(one.withBytes { $0.elementsEqual(plain) }) }
    var written = [UInt8](repeating: 0, count: count + 1)
    written.withUnsafeMutableBytes(one.write)
    #expect(written == plain + [0])
    #expect(one.withBytes { mine in other.withBytes { $0.elementsEqual(mine) } })
  }

  @Test("What is written again is the same, whatever was written in between")
  func writtenAgain() {
    // More of them than keystreams are remembered, and some longer.
    let lengths = (0..<3 * Keystreams.slotCount).map { [1, 31, 1_200, Keystreams.slotBytes + 1][$0 % 4] }
    let plain = lengths.enumerated().map { [UInt8](repeating: UInt8($0), count: $1) }
    let secrets = plain.map { Secret($0) }
    for _ in 0..<3 {
      for (secret, plain) in zip(secrets, plain) {
        for _ in 0..<2 {
          var written = [UInt8](repeating: 0xFF, count: plain.count)
          written.withUnsafeMutableBytes(secret.write)
          #expect(written == plain)
        }
      }
    }
  }

  @Test("Many tasks at once open the same secret")
  func shared() async {
    let secret = Secret("a token of everybody")
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 {
        group.addTask {
          secret.reveal() == "a token of everybody" && written(secret) == "a token of everybody"
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  private func written(_ secret: Secret) -> String {
    String(unsafeUninitializedCapacity: secret.count) {
      secret.write(to: UnsafeMutableRawBufferPointer($0))
      return secret.count
    }
  }
}
