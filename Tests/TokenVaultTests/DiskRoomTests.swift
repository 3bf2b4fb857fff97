import Testing

@testable import TokenVault

@Suite("Room for an answer on the vault's disk")
struct DiskRoomTests {
  @Test(
    "is 4 MiB, on a small disk an eighth of it",
    arguments: [
      (UInt(1_024), UInt(1 << 20), false), (1_023, 1 << 20, true), (0, 1 << 20, true), (32, 256, false),
      (31, 256, true),
      (1_000, 8_192, true),
    ])
  func least(free: UInt, blocks: UInt, isShort: Bool) {
    #expect((DiskRoom.shortage(free: free, blocks: blocks, blockSize: 4_096) != nil) == isShort)
  }

  @Test("A file system that does not count its blocks says nothing")
  func unknown() {
    #expect(DiskRoom.shortage(free: 0, blocks: 0, blockSize: 4_096) == nil)
    #expect(DiskRoom.shortage(free: 0, blocks: 100, blockSize: 0) == nil)
  }

  @Test("Sizes that no computer has are no trouble")
  func huge() {
    #expect(DiskRoom.shortage(free: .max, blocks: .max, blockSize: .max) == nil)
    #expect(DiskRoom.shortage(free: 0, blocks: .max, blockSize: 1) != nil)
    #expect(DiskRoom.shortage(free: 0, blocks: .max, blockSize: .max) != nil)
  }

  @Test("It is told how much is missing")
  func told() {
    let told = DiskRoom.shortage(free: 3, blocks: 1 << 20, blockSize: 4_096)
    #expect(
      told
        == "the disk of vault.db is almost full: 12 KiB are free, and a server's answer may need 4096 KiB, so nothing is sent"
    )
  }
}
