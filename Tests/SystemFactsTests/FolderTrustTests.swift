import SystemFacts
import Testing

@Suite("Whom a folder is open to")
struct FolderTrustTests {
  typealias Case = (owner: UInt32, group: UInt32, mode: UInt32, above: Bool, last: Bool)

  /// The user is 7 with a private group of that number, root is 0.
  private func isTrusted(_ some: Case, _ purpose: FolderTrust.Purpose, isLast: Bool, root: UInt32 = 0) -> Bool {
    let trust = FolderTrust(for: purpose, userID: 7) { path in
      path == "/"
        ? .init(isFolder: true, owner: root, group: 0, mode: 0o755)
        : .init(isFolder: true, owner: some.owner, group: some.group, mode: some.mode)
    }
    return trust.fault(of: "/a", isLast: isLast) == nil
  }

  @Test(
    "For files: nobody else writes there but in a sticky folder, groups of root's, and above the last one the private group",
    arguments: [
      (7, 7, 0o700, true, true), (7, 7, 0o775, true, false), (7, 50, 0o775, false, false), (7, 7, 0o777, false, false),
      (7, 7, 0o757, false, false), (7, 50, 0o1777, true, true), (0, 50, 0o2775, true, true),
      (0, 0, 0o777, false, false),
      (0, 0, 0o1777, true, true), (8, 8, 0o755, false, false), (8, 7, 0o1777, false, false),
    ] as [Case])
  func files(some: Case) {
    #expect(isTrusted(some, .files { group, _ in group == 7 }, isLast: false) == some.above)
    #expect(isTrusted(some, .files { group, _ in group == 7 }, isLast: true) == some.last)
  }

  @Test(
    "For programs: no group, and no sticky folder at the end",
    arguments: [
      (7, 7, 0o700, true, true), (7, 7, 0o775, false, false), (0, 50, 0o2775, false, false),
      (0, 0, 0o1777, true, false),
      (0, 0, 0o755, true, true), (8, 8, 0o755, false, false),
    ] as [Case])
  func programs(some: Case) {
    #expect(isTrusted(some, .programs, isLast: false) == some.above)
    #expect(isTrusted(some, .programs, isLast: true) == some.last)
  }

  @Test("Whose a group is, is asked of the folder that it may write, and of no other")
  func groups() {
    let trust = FolderTrust(for: .files { $0 == 9 && $1 == "/a" }, userID: 7) { path in
      .init(isFolder: true, owner: path == "/root's" ? 0 : 7, group: 9, mode: 0o775)
    }
    #expect(trust.fault(of: "/a", isLast: false) == nil && trust.fault(of: "/a", isLast: true) == .mode(0o775))
    #expect(trust.fault(of: "/b", isLast: false) == .mode(0o775) && trust.fault(of: "/root's", isLast: true) == nil)
  }

  @Test(
    "In a namespace that maps only the user, a program is root's where only root puts anything",
    arguments: [
      ("/", true), ("/usr", true), ("/usr/bin", true), ("/nix", true), ("/nix/store/a/bin", true), ("/nix/var", false),
      ("/home", false), ("/usrx", false), ("/tmp/usr/bin", false), ("/usr\u{301}", false), ("/n", false),
      ("/usr/local", false), ("/usr/local/bin", false), ("/usr/localx", true), ("/app/bin", false),
    ])
  func namespace(folder: String, isTrusted: Bool) {
    let facts: @Sendable (String) -> FolderTrust.Facts? = { path in
      path == "/.flatpak-info" ? nil : .init(isFolder: true, owner: 65_534, mode: 0o755)
    }
    let programs = FolderTrust(for: .programs, userID: 7, facts: facts)
    #expect((programs.fault(of: folder, isLast: true) == nil) == isTrusted)
    let files = FolderTrust(for: .files { _, _ in false }, userID: 7, facts: facts)
    #expect(files.fault(of: folder, isLast: true) == nil)
  }

  @Test("What is no folder is told apart from one that is open, and whose it is")
  func faults() {
    let found: [String: FolderTrust.Facts] = [
      "/": .init(isFolder: true, owner: 65_534, mode: 0o755), "/file": .init(isFolder: false, owner: 7, mode: 0o600),
      "/root's": .init(isFolder: true, owner: 65_534, mode: 0o755),
      "/other": .init(isFolder: true, owner: 8, mode: 0o755),
      "/open": .init(isFolder: true, owner: 7, mode: 0o40777),
    ]
    let trust = FolderTrust(for: .files { group, _ in group == 7 }, userID: 7) { found[$0] }
    #expect(trust.fault(of: "/file", isLast: true) == .noFolder && trust.fault(of: "/none", isLast: true) == .noFolder)
    #expect(trust.fault(of: "/root's", isLast: true) == nil, "who owns the root of the tree stands for root")
    #expect(trust.fault(of: "/other", isLast: true) == .owner(8))
    #expect(trust.fault(of: "/open", isLast: true) == .mode(0o777))
  }
}
