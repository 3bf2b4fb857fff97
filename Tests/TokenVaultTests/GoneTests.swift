import Glibc
import Sealing
import Synchronization
import Testing

@testable import TokenVault

@Suite("A vault that is gone is awaited")
struct GoneTests {
  let scratch: Scratch
  let folder: String

  init() throws {
    scratch = try Scratch()
    folder = scratch.location.directory
  }

  private var gone: VaultError { .gone(path: scratch.location.databaseFile) }

  @Test(
    "What this process had open, a counter, a lock by the user or a key file without the lock file tell of a vault",
    arguments: [
      (VaultTraces(), false), (VaultTraces(wasOpen: true), true), (VaultTraces(hasCounter: true), true),
      (VaultTraces(isHeld: true), true), (VaultTraces(hasKeyFile: true), true),
      (VaultTraces(hasKeyFile: true, hasLockFile: true), false), (VaultTraces(hasLockFile: true), false),
    ])
  func traces(_ traces: VaultTraces, tell: Bool) { #expect(traces.tellOfAVault == tell) }

  @Test("A folder that is moved away under an open vault gets no new one, and is taken again when it comes back")
  func movedAway() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    try await vault.setPassphrase(Secret("correct horse"), current: nil, cost: .cheap)
    try await vault.removeSlot(.keyFile, current: Secret("correct horse"))
    #expect(rename(folder, folder + ".away") == 0)
    for _ in 0..<2 {
      await #expect(throws: gone) { try await vault.put(.sample(1, version: 2)) }
      #expect(await vault.status().state == .failed(gone))
    }
    await #expect(throws: gone) { try await vault.create() }
    await #expect(throws: gone) { try await vault.unlock(passphrase: Secret("correct horse")) }
    #expect(access(folder, F_OK) != 0 && access(scratch.location.keyFile, F_OK) != 0)
    #expect(rename(folder + ".away", folder) == 0)
    #expect(await vault.status().state == .open)
    try await vault.put(.sample(1, version: 3))
    #expect(try await vault.held() == [Held(.sample(1, version: 3))])
    #expect(await vault.status().slots.map(\.kind) == [.recoveryCode, .passphrase])
    #expect(await vault.status().rollback == nil)
  }

  @Test("A vault that cannot be looked at is told as that, and not as gone")
  func notToBeSeen() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    #expect(rename(folder, folder + ".away") == 0 && symlink(folder, folder) == 0)
    await #expect {
      try await vault.put(.sample(1, version: 2))
    } throws: { error in
      if case .storageFailed(let why)? = error as? VaultError { why.contains("symbolic links") } else { false }
    }
    #expect(await vault.status().state != .failed(gone))
    #expect(unlink(folder) == 0 && rename(folder + ".away", folder) == 0)
    try await vault.put(.sample(1, version: 3))
  }

  @Test("A vault that its owner may not read is told as that, and opens once he may")
  func unreadable() async throws {
    let first = scratch.vault()
    try await first.put(.sample(1))
    await first.close()
    let file = scratch.location.databaseFile
    #expect(chmod(file, 0) == 0)
    let vault = scratch.vault()
    await #expect(throws: VaultError.unreadable(path: file)) { try await vault.loadAll() }
    #expect(chmod(file, 0o600) == 0)
    #expect(try await vault.held() == [Held(.sample(1))])
    await vault.close()
  }

  @Test(
    "Only what the system says is not there is gone",
    arguments: [
      (ENOENT, VaultError.gone(path: "/d/vault.db")), (ENOTDIR, .gone(path: "/d/vault.db")),
      (EACCES, .closedToOwner(path: "/d")),
    ])
  func unseen(code: Int32, error: VaultError) { #expect(VaultError.unseen("/d/vault.db", code) == error) }

  @Test("Where the usual folder has a vault or a key file, that is told with what is missing")
  func elsewhere() async throws {
    let first = scratch.vault()
    try await first.put(.sample(1))
    await first.close()
    let place = scratch.location
    let (database, keyFile) = (scratch.path + "/usual.db", scratch.path + "/usual.key")
    let location = VaultLocation(
      directory: place.directory, keyFile: place.keyFile, counterFile: place.counterFile,
      usual: VaultLocation.Usual(database: database, keyFile: keyFile))
    func state() async -> VaultStatus.State {
      let vault = Vault(location: location, socketPathForLock: "/s", recoveryCost: .cheap)
      _ = try? await vault.loadAll()
      let state = await vault.status().state
      await vault.close()
      return state
    }
    #expect(await state() == .open)
    #expect(rename(place.keyFile, keyFile) == 0)
    #expect(await state() == .failed(.keyMissing(path: place.keyFile, usual: keyFile)))
    #expect(rename(keyFile, place.keyFile) == 0)
    #expect(await state() == .open)
    #expect(rename(place.databaseFile, database) == 0)
    #expect(await state() == .failed(.gone(path: place.databaseFile, usual: database)))
    #expect(unlink(database) == 0)
    #expect(await state() == .failed(gone))
  }

  @Test("Nor is one made by a process that never had it open", arguments: [true, false])
  func afterAStart(isFolderThere: Bool) async throws {
    let first = scratch.vault()
    try await first.put(.sample(1))
    await first.close()
    let (path, counter) = (scratch.location.databaseFile, try scratch.read(scratch.location.counterFile))
    #expect(isFolderThere ? rename(path, folder + "/../db") == 0 : rename(folder, folder + ".away") == 0)
    let second = scratch.vault()
    await #expect(throws: gone) { try await second.loadAll() }
    await #expect(throws: gone) { try await second.put(.sample(2)) }
    await #expect(throws: gone) { try await second.create() }
    await #expect(throws: gone) { try await second.hold() }
    await #expect(throws: gone) { try await second.unlock() }
    #expect(await second.status().state == .failed(gone))
    #expect(try scratch.read(scratch.location.counterFile) == counter)
    #expect(isFolderThere ? rename(folder + "/../db", path) == 0 : rename(folder + ".away", folder) == 0)
    #expect(try await second.held() == [Held(.sample(1))])
  }

  @Test("Told to, it begins anew in place of a damaged one too, whose files are kept", arguments: [true, false])
  func anewAfterDamage(isOpen: Bool) async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let path = scratch.location.databaseFile
    for number in 1...2 {
      if isOpen {
        // As somebody moves it: its log stays, and the vault goes on with the file that it has.
        #expect(rename(path, folder + "/../db") == 0)
      } else {
        await vault.close()
        try scratch.write(Array(repeating: 7, count: 8_192), to: path)
      }
      await #expect(throws: VaultError.self) { try await vault.create() }
      _ = try await vault.create(anew: true)
      #expect(try await vault.held() == [])
      #expect(await vault.status().state == .open)
      if !isOpen {
        let kept = try scratch.read(path + (number == 1 ? ".damaged" : ".damaged.2"))
        #expect(kept == Array(repeating: 7, count: 8_192))
      }
      try await vault.put(.sample(UInt8(number)))
    }
    await vault.close()
    #expect(try await scratch.vault().held().count == 1)
  }

  @Test("Told to, it begins anew, and one that comes back then is reported as old")
  func anew() async throws {
    let vault = scratch.vault()
    for version in 1...3 as ClosedRange<UInt64> { try await vault.put(.sample(1, version: version)) }
    await #expect(throws: VaultError.alreadyExists(path: scratch.location.databaseFile)) {
      try await vault.create(anew: true)
    }
    #expect(rename(folder, folder + ".away") == 0)
    _ = try await vault.create(anew: true)
    #expect(try await vault.held() == [])
    #expect(await vault.status().rollback == nil)
    try await vault.put(.sample(2))
    await vault.close()
    #expect(rename(folder, folder + ".new") == 0 && rename(folder + ".away", folder) == 0)
    let second = scratch.vault()
    #expect(try await second.held() == [Held(.sample(1, version: 3))])
    #expect(await second.status().rollback != nil)
  }

  /// A vault that only its passphrase opens, with its folder moved away.
  private func sealedAndMovedAway(random: some RandomSource = SystemRandom()) async throws -> Vault {
    let vault = Vault(
      location: scratch.location, socketPathForLock: "", random: random, recoveryCost: .cheap, now: { 0 })
    try await vault.put(.sample(1))
    try await vault.setPassphrase(Secret("correct horse"), current: nil, cost: .cheap)
    try await vault.removeSlot(.keyFile, current: Secret("correct horse"))
    #expect(rename(folder, folder + ".away") == 0)
    return vault
  }

  /// Nothing of it was forgotten: its keys, and what tells that it is not old.
  private func isWhole(_ vault: Vault) async throws {
    try await vault.put(.sample(1, version: 2))
    #expect(try await vault.held() == [Held(.sample(1, version: 2))])
    #expect(await vault.status().rollback == nil)
    await vault.close()
    let second = scratch.vault()
    try await second.unlock(passphrase: Secret("correct horse"))
    #expect(await second.status().rollback == nil)
  }

  @Test("Where the disk takes no new one, the one that is gone is still awaited")
  func anewFails() async throws {
    let vault = try await sealedAndMovedAway()
    // What a new one is written into first.
    #expect(mkdir(folder, 0o700) == 0 && mkdir(folder + "/vault.db.new", 0o700) == 0)
    await #expect(throws: VaultError.self) { try await vault.create(anew: true) }
    #expect(await vault.status().state == .failed(gone))
    #expect(rename(folder, folder + ".failed") == 0 && rename(folder + ".away", folder) == 0)
    try await isWhole(vault)
  }

  /// Runs `body` once when it is asked for randomness after `arm`.
  private final class Trigger: RandomSource {
    private let body = Mutex<(@Sendable () -> Void)?>(nil)

    func arm(_ body: @escaping @Sendable () -> Void) { self.body.withLock { $0 = body } }

    func bytes(_ count: Int) -> [UInt8] {
      body.withLock { body in
        defer { body = nil }
        return body
      }?()
      return SystemRandom().bytes(count)
    }
  }

  @Test("Where it is back before a new one is made, none is made and nothing of it is forgotten")
  func backMeanwhile() async throws {
    let trigger = Trigger()
    let vault = try await sealedAndMovedAway(random: trigger)
    trigger.arm { [folder] in rename(folder + ".away", folder) }
    await #expect(throws: VaultError.alreadyExists(path: scratch.location.databaseFile)) {
      try await vault.create(anew: true)
    }
    try await isWhole(vault)
  }

  @Test("A folder put in the place of the one with the lock is locked, too")
  func lockOfAnotherFolder() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    let files = try scratch.files()
    #expect(rename(folder, folder + ".away") == 0)
    await #expect(throws: gone) { try await vault.put(.sample(2)) }
    #expect(mkdir(folder, 0o700) == 0)
    try scratch.restore(files)
    #expect(await vault.status().state == .open)
    let other = scratch.vault()
    await #expect(throws: VaultError.self) { try await other.loadAll() }
    #expect(try await vault.held() == [Held(.sample(1))])
  }
}
