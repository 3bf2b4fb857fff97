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

  @Test("Many tasks at once open the same secret")
  func shared() async {
    let secret = Secret("a token of everybody")
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { secret.reveal() == "a token of everybody" } }
      for await isRight in group { #expect(isRight) }
    }
  }
}
