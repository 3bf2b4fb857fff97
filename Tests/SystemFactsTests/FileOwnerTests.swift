import Testing

@testable import SystemFacts

@Suite("What has to be the user's own and is not")
struct FileOwnerTests {
  @Test("Root is called so, and only root can give it back")
  func words() {
    #expect(FileOwner.reason(0) == "belongs to root")
    #expect(FileOwner.reason(4_711) == "belongs to another user (uid 4711)")
    #expect(FileOwner.remedy("/a", for: 1_000) == "sudo chown 1000: /a")
  }
}
