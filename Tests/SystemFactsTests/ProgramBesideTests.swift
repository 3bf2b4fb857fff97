import Testing

@testable import SystemFacts

@Suite("A program beside this one")
struct ProgramBesideTests {
  private static let path = "/opt/bin/oauthd"

  /// The fault of `oauthd` in a folder of mode `folder` of user 7's, whose own program belongs to `programOwner`.
  private func fault(
    folder: UInt32 = 0o755, link: UInt32? = nil, owner: UInt32 = 7, mode: UInt32 = 0o755, programOwner: UInt32? = 7,
    isThere: Bool = true, root: UInt32 = 0
  ) -> ProgramBeside.Fault? {
    @Sendable func facts(_ path: String, followed: Bool) -> FolderTrust.Facts? {
      switch path {
      case "/": .init(isFolder: true, owner: root, mode: 0o755)
      case "/opt/bin": .init(isFolder: true, owner: 7, mode: folder)
      case Self.path where isThere:
        .init(isFolder: false, owner: followed ? owner : link ?? owner, mode: !followed && link != nil ? 0o777 : mode)
      default: nil
      }
    }
    return ProgramBeside.fault(
      of: Self.path, programOwner: programOwner, userID: 7,
      facts: { facts($0, followed: false) }, followed: { facts($0, followed: true) })
  }

  @Test("of one's own, of root, of whoever owns this program, or not there: nothing")
  func noFault() {
    #expect(fault() == nil)
    #expect(fault(owner: 0) == nil)
    #expect(fault(owner: 9, programOwner: 9) == nil)
    #expect(fault(isThere: false) == nil)
    #expect(fault(link: 0) == nil)
    // What a group may do is its own affair, as in /usr/local of Debian.
    #expect(fault(folder: 0o2775, mode: 0o775) == nil)
  }

  @Test("another user's, by itself or by its link")
  func owner() {
    #expect(fault(owner: 8) == .owner(Self.path, 8))
    #expect(fault(owner: 8, programOwner: nil) == .owner(Self.path, 8))
    #expect(fault(link: 8) == .owner(Self.path, 8))
    #expect(fault(owner: 8)?.reason == "/opt/bin/oauthd belongs to another user (uid 8)")
  }

  @Test(
    "in a user namespace, where root and strangers have one number: whoever owns this program, but in a group's folder")
  func namespace() {
    #expect(fault(owner: 65_534, root: 65_534) == .owner(Self.path, 65_534))
    #expect(fault(folder: 0o1775, owner: 65_534, root: 65_534) == .owner(Self.path, 65_534))
    #expect(fault(owner: 65_534, programOwner: 65_534, root: 65_534) == nil)
    #expect(fault(folder: 0o1775, owner: 65_534, programOwner: 65_534, root: 65_534) == .owner(Self.path, 65_534))
  }

  @Test("everybody may put another there, with and without the sticky bit, also where none is yet")
  func mode() {
    #expect(fault(folder: 0o1777) == .folder("/opt/bin", mode: 0o1777))
    #expect(fault(folder: 0o777, isThere: false) == .folder("/opt/bin", mode: 0o777))
    #expect(fault(mode: 0o777) == .program(Self.path, mode: 0o777))
  }
}
