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
}
