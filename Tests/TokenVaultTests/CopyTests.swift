import Dispatch
import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("A copy to be checked that somebody has made worse")
struct CopyTests {
  let scratch: Scratch
  let passphrase = Secret("correct horse battery")

  init() throws { scratch = try Scratch() }

  private func vaultWithCopy(_ change: String...) async throws -> (Vault, String) {
    let vault = scratch.vault()
    _ = try await vault.create()
    try await vault.put(.sample(1))
    try await vault.setPassphrase(passphrase, cost: .cheap)
    let path = scratch.path + "/copy"
    try scratch.write(scratch.read(await vault.backup().path), to: path)
    let connection = try SQLiteConnection(path: path)
    try connection.run("PRAGMA journal_mode=DELETE")
    for statement in change { try connection.run(statement) }
    try connection.run("PRAGMA journal_mode=WAL")
    return (vault, path)
  }

  private func refusal(_ vault: Vault, _ path: String, passphrase: Secret? = nil) async -> String {
    do throws(VaultError) { _ = try await vault.check(file: path, passphrase: passphrase) } catch {
      if case .damaged(_, let what) = error { return what }
      return "\(error)"
    }
    return "good"
  }

  @Test("The vault is written and read while it is looked at")
  func beside() async throws {
    let (vault, path) = try await vaultWithCopy()
    vault.checkExecutor.queue.suspend()
    let checking = Task { try await vault.check(file: path) }
    while !(await vault.isChecking) { await Task.yield() }
    try await vault.put(.sample(2))
    #expect(try await vault.held().count == 2)
    await #expect(throws: VaultError.tooManyUnlocks) { try await vault.check(file: path) }
    _ = try await vault.renewRecoveryCode(current: passphrase)
    vault.checkExecutor.queue.resume()
    #expect(try await checking.value.recordCount == 1)
    #expect(try scratch.files().keys.filter { $0.contains("check") } == [])
  }

  @Test(
    "A slot that costs more than any that is written here is not hashed",
    arguments: ["passes = 13", "memory_kib = 262145", "passes = 16, memory_kib = 2097152"])
  func cost(change: String) async throws {
    let (vault, path) = try await vaultWithCopy("UPDATE slot SET \(change) WHERE kind = 3")
    vault.stretcher.queue.suspend()
    defer { vault.stretcher.queue.resume() }
    #expect(await refusal(vault, path, passphrase: passphrase).contains("12 over 256 MiB is the most"))
  }

  @Test("The greatest cost that is written here is none too much")
  func greatest() throws {
    let most = PasswordHash.Cost.sensitive
    try CopyChecker.refuseExcess(
      Slot(number: 3, kind: 3, passes: most.passes, memoryKiB: most.memoryKiB, salt: [], sealed: []))
  }

  @Test("A file that is too large is refused before a byte of it is written")
  func size() async throws {
    let (vault, path) = try await vaultWithCopy()
    #expect(truncate(path, off_t(CopyChecker.maximumByteCount) + 1) == 0)
    #expect(await refusal(vault, path).contains("1024 MiB is the most"))
    #expect(truncate(path, 3 << 30) == 0)
    #expect(await refusal(vault, path).contains("1024 MiB is the most"))
  }

  @Test("Rows that its catalogue does not know are counted")
  func rows() async throws {
    let (vault, path) = try await vaultWithCopy(
      "INSERT INTO record WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
        + "SELECT CAST(i AS BLOB), x'00' FROM n")
    #expect(await refusal(vault, path) == "1000 rows that the catalogue does not know")
  }

  @Test("So many slots are none of ours")
  func slots() async throws {
    let (vault, path) = try await vaultWithCopy(
      "INSERT INTO slot WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 70) "
        + "SELECT i, i, 0, 0, x'00', x'00' FROM n")
    #expect(await refusal(vault, path) == "database: so many slots")
  }

  @Test("Tables of its own are refused before SQLite reads any")
  func tables() async throws {
    let (vault, path) = try await vaultWithCopy("CREATE TABLE more (a)")
    #expect(await refusal(vault, path) == "database: its tables")
    #expect(throws: VaultError.damaged(what: "database: its tables")) {
      guard let directory = try PrivateDirectory.open(scratch.path, isSecret: true) else { throw VaultError.absent }
      try VaultDatabase.checkFirstPage(in: directory, "copy", path: path)
    }
  }

  @Test("The text of a table that is longer than any of ours is not read")
  func longDefinition() async throws {
    let (vault, path) = try await vaultWithCopy(
      "PRAGMA writable_schema=ON", "UPDATE sqlite_schema SET sql = sql || printf('%.*c', 5000, ' ') WHERE name = 'slot'"
    )
    #expect(await refusal(vault, path).contains("too big"))
  }
}
