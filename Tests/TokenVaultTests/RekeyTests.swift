import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("A new data key")
struct RekeyTests {
  let scratch: Scratch
  let passphrase = Secret("correct horse battery")

  init() throws { scratch = try Scratch() }

  private func protectedVault() async throws -> (Vault, RecoveryCode) {
    let vault = scratch.vault()
    let code = try await vault.create()
    for name in UInt8(1)...30 { try await vault.put(.sample(name, version: 7, size: 100 * Int(name))) }
    try await vault.setPassphrase(passphrase, cost: .cheap)
    return (vault, code)
  }

  private var records: [Held] { (UInt8(1)...30).map { Held(.sample($0, version: 7, size: 100 * Int($0))) } }

  @Test("Every record is there under it, and nothing that opened the vault before does")
  func rekey() async throws {
    let (vault, oldCode) = try await protectedVault()
    let before = try scratch.files()
    let oldKey = try #require(await vault.keys?.data.withBytes { Array($0) })
    let newCode = try #require(try await vault.rekey(passphrase: passphrase))
    #expect(try await vault.held() == records)
    #expect(await vault.keys?.data.withBytes { Array($0) } != oldKey)
    #expect(await vault.status().slots.map(\.isIntact) == [true, true, true])
    try await vault.put(.sample(1, version: 8))
    await vault.close()
    #expect(Set(try scratch.files().keys) == Set(before.keys).subtracting(["data/oauthctl/vault.db-wal"]))

    let after = scratch.vault()
    await #expect(throws: VaultError.invalidRecoveryCode) {
      try await after.unlock(recoveryCode: Secret(oldCode.reveal()))
    }
    try await after.unlock(recoveryCode: Secret(newCode.reveal()))
    await after.close()
    try await after.unlock(passphrase: passphrase)
    await after.close()
    #expect(try await after.held().count == 30)
    #expect(await after.status().rollback == nil)
    #expect(await after.status().counterProblem == nil)
    await after.close()

    // The thief's key file and the new vault.
    try scratch.write(#require(before["state/oauthctl/key"]), to: scratch.location.keyFile)
    await #expect(throws: VaultError.self) { try await scratch.vault().loadAll() }
  }

  @Test("The key file of before, put back, becomes no key of the vault again", arguments: [false, true])
  func leakedKeyFile(isAdded: Bool) async throws {
    let (vault, _) = try await protectedVault()
    let leaked = try scratch.read(scratch.location.keyFile)
    let code = try #require(try await vault.rekey(passphrase: passphrase))
    await vault.close()
    try scratch.write(leaked, to: scratch.location.keyFile)
    let again = scratch.vault()
    if isAdded {
      try await again.unlock(passphrase: passphrase)
      try await again.addKeyFile(current: passphrase)
    } else {
      try await again.unlock(recoveryCode: Secret(code.reveal()))
    }
    await again.close()
    #expect(try scratch.read(scratch.location.keyFile) != leaked)
    #expect(try scratch.read(scratch.location.keyFile + ".damaged") == leaked)
    #expect(try await scratch.vault().held() == records, "by the new key file")
    try scratch.write(leaked, to: scratch.location.keyFile)
    await #expect(throws: VaultError.self) { try await scratch.vault().loadAll() }
  }

  @Test(
    "The vault from before, put back under the open one with its key file, is not taken before the next start, and old then"
  )
  func putBackWhileOpen() async throws {
    let (vault, _) = try await protectedVault()
    await vault.close()
    let before = try scratch.files()
    _ = try await vault.held()
    _ = try await vault.rekey(passphrase: passphrase)
    let counter = try scratch.read(scratch.location.counterFile)
    for file in [scratch.location.databaseFile, scratch.location.keyFile] { #expect(unlink(file) == 0) }
    try scratch.restore(before)
    try scratch.write(counter, to: scratch.location.counterFile)
    guard case .failed(.damaged(.contents, _)) = await vault.status().state else {
      Issue.record("\(await vault.status().state)")
      return
    }
    await vault.close()
    #expect(try await vault.held() == records)
    #expect(await vault.status().rollback != nil)
    await vault.close()
  }

  @Test("The vault from before, put back alone under the open one, says that its key file does not open it")
  func putBackAloneWhileOpen() async throws {
    let (vault, oldCode) = try await protectedVault()
    await vault.close()
    let before = try scratch.read(scratch.location.databaseFile)
    _ = try await vault.held()
    _ = try await vault.rekey(passphrase: passphrase)
    #expect(unlink(scratch.location.databaseFile) == 0)
    try scratch.write(before, to: scratch.location.databaseFile)
    await vault.close()
    await #expect(throws: VaultError.self) { _ = try await vault.loadAll() }
    guard case .failed(.damaged(.slot, _)) = await vault.status().state else {
      Issue.record("\(await vault.status().state)")
      return
    }
    try await vault.unlock(recoveryCode: Secret(oldCode.reveal()))
    #expect(try await vault.held() == records)
    #expect(await vault.status().rollback != nil)
    await vault.close()
  }

  @Test("The vault from before, put back with its key file, is known to be old")
  func putBack() async throws {
    let (vault, _) = try await protectedVault()
    await vault.close()
    let before = try scratch.files()
    _ = try await vault.rekey(passphrase: passphrase)
    try await vault.put(.sample(1, version: 8))
    await vault.close()
    for name in ["data/oauthctl/vault.db", "state/oauthctl/key"] {
      try scratch.write(#require(before[name]), to: "\(scratch.path)/\(name)")
    }
    #expect(try await vault.held() == records)
    #expect(await vault.rollback != nil)
    await #expect(throws: VaultError.self) { try await vault.rekey(passphrase: passphrase) }
    try await vault.acceptRollback()
    await vault.close()
    #expect(try await vault.held() == records)
    #expect(await vault.rollback == nil)
    #expect(await vault.status().counterProblem == nil)
  }

  @Test("The vault from just before, put back with its key file and no later commit, is known to be old")
  func putBackAtOnce() async throws {
    let (vault, _) = try await protectedVault()
    await vault.close()
    let before = try scratch.files()
    _ = try await vault.rekey(passphrase: passphrase)
    #expect(await vault.status().rollback == nil)
    await vault.close()
    for name in ["data/oauthctl/vault.db", "state/oauthctl/key"] {
      try scratch.write(#require(before[name]), to: "\(scratch.path)/\(name)")
    }
    #expect(try await vault.held() == records)
    #expect(await vault.rollback != nil)
    await vault.close()
    #expect(unlink(scratch.location.counterFile) == 0)
    _ = try await vault.loadAll()
    #expect(await vault.rollback != nil)
  }

  /// The steps of a rekey, in order: what a kill after each leaves.
  enum Step: CaseIterable { case nextKey, halfDraft, draft, counter, renamed, promoted, settled }

  @Test(
    "Killed after any step, one vault is there: the old or the new, whole, and no rollback", arguments: Step.allCases)
  func killed(after step: Step) async throws {
    let (vault, _) = try await protectedVault()
    await vault.close()
    let old = try scratch.files()
    _ = try await vault.rekey(passphrase: passphrase)
    await vault.close()
    let new = try scratch.files()
    let (db, key, commits) = ("data/oauthctl/vault.db", "state/oauthctl/key", "state/oauthctl/commits")
    var files = old
    if step != .settled { files[key + ".next"] = new[key] }
    if step == .halfDraft { files[db + ".new"] = Array(try #require(new[db]).prefix(5_000)) }
    if step == .draft { files[db + ".new"] = new[db] }
    // Each vault has its commit in it, until the new one is open: 32 in the even place, 33 in the odd one.
    let both = try #require(old[commits]).prefix(64) + #require(new[commits]).suffix(64)
    if [.counter, .renamed, .promoted].contains(step) { files[commits] = Array(both) }
    if step == .settled { files = new }
    if step == .renamed || step == .promoted { files[db] = new[db] }
    if step == .promoted {
      files[key] = new[key]
      files[key + ".next"] = nil
    }
    for opening in ["key file", "passphrase"] {
      try scratch.restore(files)
      let found = scratch.vault()
      if opening == "passphrase" { try await found.unlock(passphrase: passphrase) }
      #expect(try await found.held() == records)
      #expect(await found.rollback == nil)
      #expect(await found.status().counterProblem == nil)
      try await found.put(.sample(40))
      await found.close()
      #expect(try await found.held().count == 31)
      #expect(await found.rollback == nil)
      _ = try await found.rekey(passphrase: passphrase)
      await found.close()
      #expect(try await found.held().count == 31)
      await found.close()
      let left = Set(try scratch.files().keys)
      #expect(left.filter { $0.hasSuffix(".new") || $0.hasSuffix(".next") } == [])
    }
  }

  @Test("A recovery code after a rekey that was cut short finds the waiting key file")
  func recoveryAfterCut() async throws {
    let (vault, _) = try await protectedVault()
    await vault.close()
    let old = try scratch.files()
    let code = try #require(try await vault.rekey(passphrase: passphrase))
    await vault.close()
    var files = try scratch.files()
    files["state/oauthctl/key.next"] = files["state/oauthctl/key"]
    files["state/oauthctl/key"] = old["state/oauthctl/key"]
    try scratch.restore(files)
    try await vault.unlock(recoveryCode: Secret(code.reveal()))
    await vault.close()
    #expect(try await vault.held() == records)
    #expect(try scratch.files()["state/oauthctl/key"] == files["state/oauthctl/key.next"])
  }

  @Test("A vault without key file and recovery code keeps its passphrase alone")
  func passphraseOnly() async throws {
    let (vault, _) = try await protectedVault()
    try await vault.removeSlot(.keyFile, current: passphrase)
    try await vault.removeSlot(.recoveryCode, current: passphrase)
    #expect(try await vault.rekey(passphrase: passphrase) == nil)
    #expect(await vault.status().slots.map(\.kind) == [.passphrase])
    #expect(access(scratch.location.keyFile, F_OK) != 0)
    await vault.close()
    try await vault.unlock(passphrase: passphrase)
    #expect(try await vault.held() == records)
  }

  @Test("A recovery code that was perhaps told to nobody is reported until it is used, or another one is made")
  func untold() async throws {
    let (vault, _) = try await protectedVault()
    let code = try #require(try await vault.rekey(passphrase: passphrase))
    let mark = "\(scratch.path)/data/oauthctl/vault.untold"
    #expect(await !vault.status().isCodeUntold)
    try scratch.write([], to: mark)
    #expect(await vault.status().isCodeUntold)
    try await vault.lock()
    try await vault.unlock(passphrase: passphrase)
    #expect(await vault.status().isCodeUntold)
    try await vault.unlock(recoveryCode: Secret(code.reveal()))
    #expect(await !vault.status().isCodeUntold)
    try scratch.write([], to: mark)
    _ = try await vault.renewRecoveryCode(current: passphrase)
    #expect(await !vault.status().isCodeUntold)
    try scratch.write([], to: mark)
    try await vault.removeSlot(.recoveryCode, current: passphrase)
    #expect(await !vault.status().isCodeUntold)
  }

  @Test("A damaged record stops it before anything is replaced")
  func damaged() async throws {
    let (vault, _) = try await protectedVault()
    await vault.close()
    try SQLiteConnection(path: scratch.location.databaseFile)
      .run("UPDATE record SET sealed = zeroblob(400) WHERE row_key = (SELECT max(row_key) FROM record)")
    let before = try scratch.files()
    await #expect(throws: VaultError.self) { try await vault.rekey(passphrase: passphrase) }
    await vault.close()
    let after = try scratch.files()
    #expect(after["state/oauthctl/key"] == before["state/oauthctl/key"])
    #expect(after.keys.filter { $0.hasSuffix(".new") || $0.hasSuffix(".next") } == [])
  }
}
