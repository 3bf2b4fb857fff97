import SystemFacts
import Testing

@Suite("File systems in memory")
struct MemoryFileSystemTests {
  @Test("tmpfs and ramfs are, whatever the sign of their number; ext4 and overlay are not")
  func types() {
    for type in [0x0102_1994, 0x8584_58F6, Int(Int32(bitPattern: 0x8584_58F6))] {
      #expect(MemoryFileSystem.isOne(type: type))
    }
    for type in [0xEF53, 0x794C_7630, -1] { #expect(!MemoryFileSystem.isOne(type: type)) }
  }

  @Test("Of a path that is not there nothing is said")
  func missing() { #expect(!MemoryFileSystem.holds("/no/such/path")) }
}
