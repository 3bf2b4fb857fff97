import Foundation
import SystemFacts
import Testing

@Suite("Facts of this machine and user")
struct SystemFactsTests {
  @Test(
    "Network file systems are told by their magic numbers, local ones and FUSE are not",
    arguments: [
      (0x6969, "NFS"), (0xFF53_4D42, "SMB"), (0xFE53_4D42, "SMB"), (-11_317_950, "SMB"), (0x517B, "SMB"),
      (0x5346_414F, "AFS"), (0x0102_1997, "9P"), (0x00C3_6400, "Ceph"), (0x0BD0_0BD0, "Lustre"), (0x4750_4653, "GPFS"),
      (0x1983_0326, "BeeGFS"), (-1, nil),
      (0xEF53, nil), (0x0102_1994, nil), (0x5846_5342, nil), (0x9123_683E, nil), (0x6573_5546, nil), (0x794C_7630, nil),
    ] as [(Int, String?)])
  func networkFileSystems(type: Int, name: String?) {
    #expect(NetworkFileSystem.name(ofType: type) == name)
  }

  @Test(
    "Base folders follow the XDG rules",
    arguments: [
      ("/c", "/h", "/c"), ("/c//", "/h", "/c"), ("c", "/h", "/h/.config"), ("", "/h/", "/h/.config"),
      (nil, "/h", "/h/.config"), ("/", "/h", ""), (nil, "/", "/.config"), (nil, "h", nil), (nil, nil, nil),
      ("~/c", nil, nil),
    ] as [(String?, String?, String?)])
  func folders(value: String?, home: String?, path: String?) {
    #expect(BaseFolder.configuration.path(value: value, home: home) == path)
  }

  @Test("The boot clock goes forward, and both units tell the same")
  func clock() {
    let before = BootClock.milliseconds()
    let seconds = BootClock.seconds()
    #expect(Double(before) <= seconds * 1_000 && seconds * 1_000 <= Double(BootClock.milliseconds() + 1))
  }

  @Test("The own executable is a file that is there")
  func executable() throws {
    let path = try #require(OwnExecutable.path)
    #expect(path.hasPrefix("/") && FileManager.default.isExecutableFile(atPath: path))
  }
}
