import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("Backups and checks")
struct BackupTests {
  let scratch: Scratch
  let passphrase = Secret("correct horse battery")

  init() throws { scratch = try Scratch() }

  private func vaultWithBackup() async throws -> (Vault, String, RecoveryCode) {
    let vault = scratch.vault()
    let code = try await vault.create()
    for name in UInt8(1)...5 { try await vault.put(.sample(name)) }
    try await vault.setPassphrase(passphrase, cost: .cheap)
    let backup = try await vault.backup()
    #expect(backup.recordCount == 5 && backup.commit == 7)
    let away = scratch.path + "/away"
    try scratch.write(scratch.read(backup.path), to: away)
    #expect(unlink(backup.path) == 0)
    #expect(backup.byteCount == (try scratch.read(away).count))
    return (vault, away, code)
  }

  @Test("A backup is one file that, put back, is the vault")
  func putBack() async throws {
    let (vault, away, _) = try await vaultWithBackup()
    await vault.close()
    try scratch.write(scratch.read(away), to: scratch.location.databaseFile)
    #expect(try await vault.held().count == 5)
    #expect(await vault.status().slots.map(\.isIntact) == [true, true, true])
    #expect(await vault.rollback == nil, "nothing was changed since")
    #expect(try scratch.files().keys.filter { $0.contains("backup") } == [])
  }

  @Test("A check reads everything and says what opened it", arguments: ["own", "key file", "passphrase", "code"])
  func check(by what: String) async throws {
    let (vault, away, code) = try await vaultWithBackup()
    let own = try await vault.check()
    #expect(own.recordCount == 5 && own.openedBy == nil)
    if what != "own" { try await vault.lock() }
    let report = try await vault.check(
      file: away, passphrase: what == "passphrase" ? passphrase : nil,
      recoveryCode: what == "code" ? Secret(code.reveal()) : nil)
    #expect(report.recordCount == 5)
    #expect(report.commit == 7)
    let expected: [String: SlotKind] = ["key file": .keyFile, "passphrase": .passphrase, "code": .recoveryCode]
    #expect(report.openedBy == expected[what])
    #expect(report.slots.map(\.isIntact) == [true, true, true])
    #expect(try scratch.files().keys.filter { $0.contains("check") } == [])
    #expect(await vault.status().state == (what == "own" ? .open : .locked))
  }

  @Test("A copy tells how far the vault has come since; one of vault.db alone lacks what is in the log")
  func behind() async throws {
    let (vault, away, _) = try await vaultWithBackup()
    #expect(try await vault.check(file: away).vault == nil)
    try await vault.put(.sample(6))
    let ahead = Vault.Extent(recordCount: 6, commit: 8)
    #expect(try await vault.check(file: away).vault == ahead)
    #expect(try await vault.check(file: away, passphrase: passphrase).vault == ahead)
    let alone = scratch.path + "/alone"
    try scratch.write(scratch.read(scratch.location.databaseFile), to: alone)
    let report = try await vault.check(file: alone)
    #expect(report.recordCount < 6 && report.vault == ahead)
    try await vault.lock()
    #expect(try await vault.check(file: away).vault == nil, "a locked vault says nothing about itself")
  }

  @Test("A backup with a flipped byte, cut short or of another kind is refused, and nothing of it is left")
  func bad() async throws {
    let (vault, away, _) = try await vaultWithBackup()
    let good = try scratch.read(away)
    var harmless = 0
    for index in stride(from: 0, to: good.count, by: 97) {
      var bytes = good
      bytes[index] ^= 1
      try scratch.write(bytes, to: away)
      // Unused bytes of a page mean nothing.
      do { if try await vault.check(file: away).recordCount == 5 { harmless += 1 } } catch {}
      #expect(try scratch.files().keys.filter { $0.contains("check") } == [])
    }
    #expect(harmless < good.count / 97)
    for bytes in [[], Array("no vault".utf8), Array(good.prefix(5_000))] {
      try scratch.write(bytes, to: away)
      await #expect(throws: VaultError.self) { try await vault.check(file: away) }
    }
    await #expect(throws: VaultError.self) { try await vault.check(file: scratch.path) }
    await #expect(throws: VaultError.self) { try await vault.check(file: scratch.path + "/none") }
    await #expect(throws: VaultError.self) { try await vault.check(file: "away") }
    #expect(try await vault.held().count == 5)
  }

  @Test("Every backup has a name of its own and stays as it is; of more than sixteen the oldest goes")
  func several() async throws {
    let (vault, _, _) = try await vaultWithBackup()
    let first = try await vault.backup()
    let bytes = try scratch.read(first.path)
    try await vault.put(.sample(6))
    let later = try await vault.backup()
    #expect(first.path != later.path)
    #expect(try scratch.read(first.path) == bytes)
    #expect(bytes.count == first.byteCount)
    #expect(try scratch.read(later.path).count == later.byteCount)
    #expect(try await vault.check(file: first.path).recordCount == 5)
    #expect(try await vault.check(file: later.path).recordCount == 6)
    for _ in 1...15 { _ = try await vault.backup() }
    #expect(access(first.path, F_OK) != 0 && access(later.path, F_OK) == 0)
    await vault.close()
    #expect(try scratch.files().keys.filter { $0.contains("backup") } == [])
  }

  @Test("A check finds a row that was changed under the open vault's file")
  func damage() async throws {
    let (vault, _, _) = try await vaultWithBackup()
    await vault.close()
    try SQLiteConnection(path: scratch.location.databaseFile)
      .run("UPDATE record SET sealed = zeroblob(400) WHERE row_key = (SELECT max(row_key) FROM record)")
    await #expect(throws: VaultError.self) { try await vault.check() }
  }
}
