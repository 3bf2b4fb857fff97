import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("What the vault could not write")
struct SpillTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private var folder: String { "\(scratch.path)/run/spill" }

  private func vault(also more: [String] = []) -> Vault {
    let location = scratch.location
    return Vault(
      location: VaultLocation(
        directory: location.directory, keyFile: location.keyFile, counterFile: location.counterFile,
        asideDirectories: ["\(scratch.path)/run"] + more),
      socketPathForLock: "\(scratch.path)/agent.sock", recoveryCost: .cheap, now: { 0 })
  }

  /// Every file that was kept aside, by path.
  private func kept() throws -> [String: [UInt8]] {
    try scratch.contents(of: folder)
  }

  /// A vault with one record and a newer version of it kept aside, closed.
  private func spilled() async throws {
    let vault = vault()
    try await vault.put(.sample(1))
    try await vault.put(.sample(2))
    try await vault.spill(.sample(1, version: 2))
    await vault.close()
  }

  @Test("comes back with the next opening, is written then, and is gone from the other place")
  func comesBack() async throws {
    try await spilled()
    #expect(try kept().count == 1)
    let second = vault()
    let records = try await second.held()
    #expect(records.map(\.payload) == [VaultRecord.sample(1, version: 2).payload, VaultRecord.sample(2).payload])
    #expect(records[0].version == 3)
    #expect(try kept().isEmpty)
    await second.close()
    #expect(try await scratch.vault().held() == records)
  }

  @Test("is sealed, private, and named by nothing that tells of it")
  func sealed() async throws {
    try await spilled()
    let (path, bytes) = try #require(try kept().first)
    let plain = VaultRecord.sample(1, version: 2).payload.withBytes { Array($0) }
    #expect(!(0...bytes.count - 32).contains { bytes[$0..<$0 + 32].elementsEqual(plain.prefix(32)) })
    #expect(!path.contains(VaultRecord.sample(1).id.description))
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o077 == 0)
  }

  @Test("a try that fails, or brings nothing new, leaves what was kept before")
  func keptUntilTheNextIsWhole() async throws {
    let vault = vault()
    try await vault.put(.sample(1))
    try await vault.spill(.sample(1, version: 2))
    let before = try kept()
    let path = try #require(before.keys.first)
    func inode() -> ino_t {
      var status = stat()
      return stat(path, &status) == 0 ? status.st_ino : 0
    }
    let first = inode()
    try await vault.spill(.sample(1, version: 2))
    #expect(try kept() == before && inode() == first)
    // No draft can be made.
    #expect(mkdir(path + ".new", 0o700) == 0)
    await #expect(throws: VaultError.self) { try await vault.spill(.sample(1, version: 3)) }
    #expect(rmdir(path + ".new") == 0)
    #expect(try kept() == before)
    try await vault.spill(.sample(1, version: 3))
    #expect(try kept().keys.first == path && kept() != before)
  }

  @Test("is read whatever others may do with its file, and wherever its folder was moved", arguments: Moved.allCases)
  func moved(how: Moved) async throws {
    try await spilled()
    try how.happen(to: #require(try kept().keys.first))
    #expect(try await vault().held().first?.payload == VaultRecord.sample(1, version: 2).payload)
  }

  @Test("a later put takes its place")
  func superseded() async throws {
    let vault = vault()
    try await vault.put(.sample(1))
    try await vault.spill(.sample(1, version: 2))
    try await vault.put(.sample(1, version: 3))
    #expect(try kept().isEmpty)
  }

  @Test("an older version put back is not believed")
  func stale() async throws {
    try await spilled()
    let (path, bytes) = try #require(try kept().first)
    let second = vault()
    _ = try await second.loadAll()
    try await second.put(.sample(1, version: 4))
    await second.close()
    try scratch.write(bytes, to: path)
    #expect(try await vault().held().first?.payload == VaultRecord.sample(1, version: 4).payload)
  }

  @Test("one of before a newer write is not believed, however often it was tried to be saved")
  func staleByRow() async throws {
    let first = vault()
    try await first.put(.sample(1))
    for version in UInt64(2)...90 { try await first.spill(.sample(1, version: version)) }
    await first.close()
    let (path, bytes) = try #require(try kept().first)
    // An agent that does not see it.
    let other = scratch.vault()
    try await other.put(.sample(1, version: 2))
    await other.close()
    let second = vault()
    #expect(try await second.held() == [Held(.sample(1, version: 2))])
    // The next write removes it.
    #expect(try kept() == [path: bytes])
    try await second.put(.sample(1, version: 3))
    #expect(try kept().isEmpty)
  }

  @Test("every folder that takes it has it, and one that takes nothing is no obstacle", arguments: [true, false])
  func folders(losesFirst: Bool) async throws {
    let other = "\(scratch.path)/other"
    try scratch.write([], to: "\(scratch.path)/file")
    let more = [other, "\(scratch.path)/file"]
    let first = vault(also: more)
    try await first.put(.sample(1))
    try await first.spill(.sample(1, version: 2))
    await first.close()
    let copies = try kept().count + scratch.contents(of: other + "/spill").count
    #expect(copies == 2)
    if losesFirst { for path in try kept().keys { unlink(path) } }
    let second = vault(also: more)
    #expect(try await second.held().first?.payload == VaultRecord.sample(1, version: 2).payload)
    #expect(try kept().isEmpty && scratch.contents(of: other + "/spill").isEmpty)
  }

  @Test("what no folder takes is this process's alone, until the vault has it")
  func unkept() async throws {
    let vault = vault()
    try await vault.put(.sample(1))
    try scratch.write([], to: "\(scratch.path)/run")
    await #expect(throws: VaultError.self) { try await vault.spill(.sample(1, version: 2)) }
    #expect(await vault.status().isAloneWithLast)
    try await vault.put(.sample(1, version: 3))
    #expect(await !vault.status().isAloneWithLast)
    await #expect(throws: VaultError.self) { try await vault.spill(.sample(1, version: 4)) }
    #expect(await vault.close() != nil)
  }

  @Test("a new data key takes it in: nothing is lost, and nothing stays that only the old key opens")
  func rekeyed() async throws {
    let vault = vault()
    for name in UInt8(1)...4 { try await vault.put(.sample(name)) }
    try await vault.spill(.sample(2, version: 1))
    let stale = try kept()
    try await vault.put(.sample(2, version: 2))
    try await vault.spill(.sample(3, version: 2))
    let damaged = try #require(try kept().keys.first)
    try await vault.put(.sample(3, version: 3))
    try await vault.spill(.sample(1, version: 7))
    for (path, bytes) in stale { try scratch.write(bytes, to: path) }
    try scratch.write([1, 2, 3], to: damaged)
    #expect(try kept().count == 3)

    _ = try await vault.rekey()
    #expect(try kept().isEmpty)
    let expected: [VaultRecord] = [
      .sample(1, version: 7), .sample(2, version: 2), .sample(3, version: 3), .sample(4),
    ]
    #expect(try await vault.held() == expected.map { Held($0) })
    try await vault.put(.sample(1, version: 8))
    await vault.close()
    #expect(try await scratch.vault().held().map(\.version) == [8, 2, 3, 1])
  }

  @Test("what cannot be looked at keeps the vault closed, stops a rekey, and stays")
  func unreadable() async throws {
    try await spilled()
    let (path, bytes) = try #require(try kept().first)
    // Root reads whatever has a mode. A socket nobody opens.
    #expect(unlink(path) == 0 && mknod(path, S_IFSOCK | 0o600, 0) == 0)
    let second = vault()
    await #expect(throws: VaultError.self) { _ = try await second.held() }
    let key = try scratch.files()["state/oauthctl/key"]
    await #expect(throws: VaultError.self) { try await second.rekey() }
    #expect(try scratch.files()["state/oauthctl/key"] == key)
    #expect(unlink(path) == 0)
    try scratch.write(bytes, to: path)
    #expect(try await second.held().first?.payload == VaultRecord.sample(1, version: 2).payload)
  }

  @Test("a vault that is older than this machine remembers leaves it to the newest one")
  func rolledBack() async throws {
    let first = vault()
    try await first.put(.sample(1))
    let old = try scratch.files()["data/oauthctl/vault.db"]
    try await first.put(.sample(1, version: 2))
    try await first.put(.sample(2))
    try await first.spill(.sample(1, version: 3))
    await first.close()
    let new = try scratch.files()["data/oauthctl/vault.db"]
    try scratch.write(#require(old), to: "\(scratch.path)/data/oauthctl/vault.db")
    let putBack = vault()
    _ = try await putBack.held()
    #expect(await putBack.rollback != nil)
    try await putBack.put(.sample(1, version: 4))
    await putBack.close()
    #expect(try kept().count == 1)
    try scratch.write(#require(new), to: "\(scratch.path)/data/oauthctl/vault.db")
    #expect(try await vault().held().first?.payload == VaultRecord.sample(1, version: 3).payload)
  }

  @Test("what is damaged, another's, or raised in its version is not believed, and harms nothing")
  func foreign() async throws {
    try await spilled()
    let (path, bytes) = try #require(try kept().first)
    for place in [0, 8, 60, bytes.count - 1] {
      var other = bytes
      other[place] ^= 1
      try scratch.write(other, to: path)
      let vault = vault()
      #expect(try await vault.held().map(\.version) == [1, 1], "byte \(place)")
      await vault.close()
    }
    for junk in [[], [1], [UInt8](repeating: 0, count: 100)] {
      try scratch.write(junk, to: path)
      let vault = vault()
      #expect(try await vault.held().map(\.version) == [1, 1])
      await vault.close()
    }
  }
}
