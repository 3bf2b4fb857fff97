import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("The vault keeps records")
struct VaultTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test("No vault: no records, and nothing is made")
  func absent() async throws {
    let vault = scratch.vault()
    #expect(try await vault.held() == [])
    #expect(await vault.status().state == .absent)
    try await vault.delete(VaultRecord.sample(1).id)
    #expect(access(scratch.location.directory, F_OK) != 0)
    #expect(access(scratch.location.keyFile, F_OK) != 0)
  }

  @Test("What put acknowledged is there after reopening, in the order of ids, whatever its size")
  func reopening() async throws {
    let sizes = [0, 1, 247, 248, 249, 256, 4_096, 70_000, VaultRecord.maximumPayloadCount]
    let records = sizes.enumerated().map { VaultRecord.sample(UInt8($0), size: $1) }
    let first = scratch.vault()
    for record in records.reversed() { try await first.put(record) }
    #expect(try await first.held() == records.map { Held($0) })
    await first.close()
    let second = scratch.vault()
    #expect(try await second.held() == records.map { Held($0) })
    let status = await second.status()
    #expect(status.state == .open)
    #expect(status.recordCount == records.count)
    #expect(status.isMemoryLocked == true)
    #expect(status.rollback == nil)
    #expect(status.counterProblem == nil)
    #expect(
      status.slots == [
        VaultStatus.Slot(number: 1, kind: .keyFile, isIntact: true),
        VaultStatus.Slot(number: 2, kind: .recoveryCode, isIntact: true, passes: 1, memoryKiB: 8_192),
      ])
    await second.close()
    #expect(await second.status().state == .closed)
  }

  @Test("A later version replaces, a version not greater is refused, a delete removes")
  func versions() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1, version: 5))
    try await vault.put(.sample(1, version: 6, size: 900))
    try await vault.put(.sample(2, version: 1))
    await #expect(throws: VaultError.staleVersion(stored: 6)) { try await vault.put(.sample(1, version: 6)) }
    await #expect(throws: VaultError.staleVersion(stored: 6)) { try await vault.put(.sample(1, version: 2)) }
    #expect(try await vault.held() == [Held(.sample(1, version: 6, size: 900)), Held(.sample(2))])
    try await vault.delete(VaultRecord.sample(1).id)
    #expect(try await vault.held() == [Held(.sample(2))])
    await vault.close()
    #expect(try await vault.held() == [Held(.sample(2))])
  }

  @Test("A payload beyond 1 MiB is refused")
  func tooLarge() async throws {
    let vault = scratch.vault()
    let record = VaultRecord.sample(1, size: VaultRecord.maximumPayloadCount + 1)
    await #expect(throws: VaultError.self) { try await vault.put(record) }
  }

  @Test("Folders are made 0700, files 0600, and there is no shared-memory file")
  func modes() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let location = scratch.location
    for (path, mode) in [
      (location.directory, 0o700), (location.databaseFile, 0o600), (location.databaseFile + "-wal", 0o600),
      (location.directory + "/vault.lock", 0o600), (location.keyFile, 0o600), (location.counterFile, 0o600),
      (scratch.path + "/state/oauthctl", 0o700), (scratch.path + "/data", 0o700),
    ] {
      var status = stat()
      #expect(lstat(path, &status) == 0, "\(path)")
      #expect(Int(status.st_mode & 0o777) == mode, "\(path)")
    }
    #expect(access(location.databaseFile + "-shm", F_OK) != 0)
  }

  @Test("Neither ids nor payloads stand in the files")
  func nothingInTheClear() async throws {
    let vault = scratch.vault()
    let marker = Array("a-very-secret-marker".utf8)
    let id = RecordID(random: SystemRandom())
    try await vault.put(VaultRecord(id: id, version: 1, payload: Secret(marker)))
    let location = scratch.location
    for path in [location.databaseFile, location.databaseFile + "-wal", location.counterFile, location.keyFile] {
      let bytes = try scratch.read(path)
      #expect(!bytes.contains(marker), "\(path)")
      #expect(!bytes.contains(id.bytes), "\(path)")
    }
    await vault.close()
    #expect(!(try scratch.read(location.databaseFile).contains(marker)))
  }

  @Test("create gives the recovery code and refuses when there is a vault; that of a put is reported untold")
  func creation() async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    await #expect(throws: VaultError.alreadyExists(path: scratch.location.databaseFile)) { try await vault.create() }
    #expect(await !vault.status().isCodeUntold)
    let other = try Scratch()
    let byPut = other.vault()
    try await byPut.put(.sample(1))
    #expect(await byPut.status().isCodeUntold)
    await byPut.close()
    try await byPut.put(.sample(2))
    #expect(await byPut.status().isCodeUntold)
    _ = try await byPut.renewRecoveryCode()
    #expect(await !byPut.status().isCodeUntold)
  }

  @Test("What a creation cut short leaves behind is swept away by the next")
  func interruptedCreation() async throws {
    let first = scratch.vault()
    _ = try await first.create()
    await first.close()
    let location = scratch.location
    let key = try scratch.read(location.keyFile)
    #expect(rename(location.databaseFile, location.databaseFile + ".new") == 0)
    // It comes after the database.
    #expect(unlink(location.counterFile) == 0)
    let second = scratch.vault()
    #expect(try await second.held() == [])
    try await second.put(.sample(1))
    #expect(try scratch.read(location.keyFile) == key, "the key file is never replaced")
    #expect(access(location.databaseFile + ".new", F_OK) != 0)
    #expect(await second.status().rollback == nil)
  }

  @Test("A database that vanishes or is swapped while open takes no write")
  func swappedDatabase() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let path = scratch.location.databaseFile
    let bytes = try scratch.read(path)
    #expect(rename(path, path + ".away") == 0)
    try scratch.write(bytes, to: path)
    await #expect(throws: VaultError.self) { try await vault.put(.sample(1, version: 2)) }
    // Its own file back in place, it is opened and judged anew, without its keys being asked for again.
    #expect(rename(path + ".away", path) == 0)
    #expect(unlink(scratch.location.keyFile) == 0)
    try await vault.put(.sample(1, version: 3))
    #expect(try await vault.held() == [Held(.sample(1, version: 3))])
  }

  @Test("Many puts at once all arrive")
  func concurrentPuts() async throws {
    let vault = scratch.vault()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in UInt8(0)..<40 { group.addTask { try await vault.put(.sample(name)) } }
      try await group.waitForAll()
    }
    await vault.close()
    #expect(try await vault.held() == (UInt8(0)..<40).map { Held(.sample($0)) })
  }
}

extension Array where Element == UInt8 {
  func contains(_ part: [UInt8]) -> Bool {
    guard count >= part.count else { return false }
    return (0...(count - part.count)).contains { self[$0] == part[0] && Array(self[$0..<$0 + part.count]) == part }
  }
}
