import Testing

@testable import SystemFacts

@Suite("What its mode keeps from its owner")
struct ClosedPathTests {
  @Test("The mode is told as chmod(1) takes it, and so is what opens it")
  func words() {
    #expect(ClosedPath.reason(mode: 0o100000) == "is closed to you (mode 000)")
    #expect(ClosedPath.reason(mode: 0o100044) == "is closed to you (mode 044)")
    #expect(ClosedPath.reason(mode: 0o040300) == "is closed to you (mode 300)")
    #expect(ClosedPath.remedy("~/work.toml", isFolder: false) == "chmod 600 ~/work.toml")
    #expect(ClosedPath.remedy("~/accounts.d", isFolder: true) == "chmod 700 ~/accounts.d")
  }

  @Test("A folder above is opened for its owner alone, unless others have a way through it")
  func above() {
    func place(_ mode: UInt32, isAbove: Bool) -> ClosedPath.Place {
      ClosedPath.Place(path: "/home/me/.local", mode: mode, isAbove: isAbove)
    }
    #expect(place(0o040000, isAbove: true).reason == "is in /home/me/.local, which is closed to you (mode 000)")
    #expect(place(0o040000, isAbove: true).remedy(isFolder: false) == "chmod 700 /home/me/.local")
    #expect(place(0o040055, isAbove: true).remedy(isFolder: false) == "chmod u+rwx /home/me/.local")
    #expect(place(0o100000, isAbove: false).reason == "is closed to you (mode 000)")
    #expect(place(0o100055, isAbove: false).remedy(isFolder: false) == "chmod 600 /home/me/.local")
  }
}
