import Testing

@testable import AgentRuntime

@Suite("Where a path's file system is mounted, by the kernel's table")
struct MountPointTests {
  private static let table = """
    /dev/vda / ext4 rw 0 0
    server:/export /mnt/company nfs4 rw,soft 0 0
    other:/ca /mnt/company/ca nfs4 rw 0 0
    auto /net autofs rw 0 0
    hanging /mnt/two\\040words fuse rw 0 0
    direct /mnt/direct autofs rw 0 0
    server:/direct /mnt/direct nfs4 rw 0 0

    """

  @Test(
    "It is the last one on the way; a name that only begins alike is another, and autofs is none",
    arguments: [
      ("/mnt/company/tls/ca.pem", "/mnt/company"), ("/mnt/company", "/mnt/company"),
      ("/mnt/company/ca/root.pem", "/mnt/company/ca"), ("/mnt/company/cards/root.pem", "/mnt/company"),
      ("/mnt/companyother/ca.pem", nil), ("/home/alice/ca.pem", nil), ("/", nil), ("", nil), ("ca.pem", nil),
      ("/net/host/ca.pem", nil), ("/mnt/direct/ca.pem", "/mnt/direct"),
      ("/mnt/two words/ca.pem", "/mnt/two words"),
    ])
  func place(_ path: String, _ mount: String?) throws {
    let folder = try ScratchFolder()
    try folder.write("mounts", Self.table)
    #expect(MountPoint.of(path, table: folder.path + "/mounts") == mount)
  }

  @Test("A line longer than any buffer hides no other")
  func long() throws {
    let folder = try ScratchFolder()
    let options = String(repeating: "lowerdir=/layer:", count: 4_096)
    try folder.write("mounts", "overlay /mnt/layers overlay \(options) 0 0\n" + Self.table)
    #expect(MountPoint.of("/mnt/layers/file", table: folder.path + "/mounts") == "/mnt/layers")
    #expect(MountPoint.of("/mnt/company/file", table: folder.path + "/mounts") == "/mnt/company")
  }

  @Test("This machine has a table, and without one no place is told")
  func live() {
    #expect(MountPoint.of("/proc/self/mounts") == "/proc")
    #expect(MountPoint.of("/proc/self/mounts", table: "/nowhere/mounts") == nil)
  }
}
