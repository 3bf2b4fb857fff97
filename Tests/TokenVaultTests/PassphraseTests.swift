import Dispatch
import Glibc
import Sealing
import Synchronization
import Testing

@testable import TokenVault

@Suite("The passphrase")
struct PassphraseTests {
  let scratch: Scratch
  let passphrase = Secret("correct horse battery")
  let other = Secret("staple, correct horse")

  init() throws { scratch = try Scratch() }

  @Test("It opens a locked vault, over restarts; a wrong one leaves it locked")
  func unlocks() async throws {
    let (vault, _) = try await scratch.protectedVault(passphrase)
    #expect(await vault.status().slots.map(\.kind) == [.keyFile, .recoveryCode, .passphrase])
    try await vault.lock()
    await #expect(throws: VaultError.wrongPassphrase) { try await vault.unlock(passphrase: other) }
    #expect(await vault.status().state == .locked)
    #expect(await vault.status().slots.map(\.kind) == [.keyFile, .recoveryCode, .passphrase])
    await vault.close()
    let restarted = scratch.vault()
    await #expect(throws: VaultError.locked) { try await restarted.loadAll() }
    try await restarted.unlock(passphrase: passphrase)
    #expect(try await restarted.held() == [Held(.sample(1))])
  }

  @Test("Without its key file the vault is sealed: only the passphrase and the recovery code open it")
  func sealed() async throws {
    let (vault, code) = try await scratch.protectedVault(passphrase)
    #expect(await vault.opensWithoutSecret)
    try await vault.removeSlot(.keyFile, current: passphrase)
    #expect(!(await vault.opensWithoutSecret))
    #expect(access(scratch.location.keyFile, F_OK) != 0, "the key file goes with its slot")
    await vault.close()
    for _ in 1...2 {
      let restarted = scratch.vault()
      await #expect(throws: VaultError.locked) { try await restarted.loadAll() }
      await #expect(throws: VaultError.locked) { try await restarted.put(.sample(2)) }
      await #expect(throws: VaultError.locked) { try await restarted.unlock() }
      #expect(await restarted.status().state == .failed(.locked))
      try await restarted.unlock(passphrase: passphrase)
      #expect(try await restarted.held() == [Held(.sample(1))])
      await restarted.close()
      try await restarted.unlock(recoveryCode: Secret(code.reveal()))
      #expect(try await restarted.held() == [Held(.sample(1))])
      #expect(access(scratch.location.keyFile, F_OK) != 0, "a key file is not made behind the user's back")
      await restarted.close()
    }
    let again = scratch.vault()
    try await again.unlock(passphrase: passphrase)
    try await again.addKeyFile(current: passphrase)
    await again.close()
    #expect(try await scratch.vault().held() == [Held(.sample(1))])
  }

  @Test("It is changed by who knows it, and the old one opens nothing then")
  func change() async throws {
    let (vault, _) = try await scratch.protectedVault(passphrase)
    await #expect(throws: VaultError.passphraseNeeded) { try await vault.setPassphrase(other, cost: .cheap) }
    await #expect(throws: VaultError.wrongPassphrase) {
      try await vault.setPassphrase(other, current: other, cost: .cheap)
    }
    try await vault.setPassphrase(other, current: passphrase, cost: .cheap)
    await vault.close()
    await #expect(throws: VaultError.wrongPassphrase) { try await vault.unlock(passphrase: passphrase) }
    try await vault.unlock(passphrase: other)
    #expect(try await vault.held() == [Held(.sample(1))])
  }

  @Test("What other slots do needs it, too", arguments: ["remove", "renew", "add", "rekey"])
  func guards(what: String) async throws {
    let (vault, _) = try await scratch.protectedVault(passphrase)
    func act(_ current: Secret?) async throws {
      switch what {
      case "remove": try await vault.removeSlot(.passphrase, current: current)
      case "renew": _ = try await vault.renewRecoveryCode(current: current)
      case "add": try await vault.addKeyFile(current: current)
      default: _ = try await vault.rekey(passphrase: current)
      }
    }
    let before = try scratch.files()
    await #expect(throws: VaultError.passphraseNeeded) { try await act(nil) }
    await #expect(throws: VaultError.wrongPassphrase) { try await act(other) }
    #expect(try scratch.files() == before)
    try await act(passphrase)
    #expect(try await vault.held() == [Held(.sample(1))])
  }

  @Test("Too short or too long is refused", arguments: [0, 7, 1_025])
  func bounds(count: Int) async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    await #expect(throws: VaultError.unusablePassphrase) {
      try await vault.setPassphrase(Secret([UInt8](repeating: 120, count: count)), cost: .cheap)
    }
    #expect(await vault.status().slots.count == 2)
  }

  @Test("A passphrase whose slot is damaged is no way in, is asked of nobody, and is set anew")
  func damagedSlot() async throws {
    let (vault, _) = try await scratch.protectedVault(passphrase)
    await vault.close()
    try SQLiteConnection(path: scratch.location.databaseFile)
      .run("UPDATE slot SET sealed = zeroblob(72) WHERE number = 3")
    _ = try await vault.loadAll()
    #expect(await vault.status().slots.map(\.isIntact) == [true, true, false])
    await #expect(throws: VaultError.slotNeeded(.keyFile)) { try await vault.removeSlot(.keyFile) }
    await #expect(throws: VaultError.slotDamaged(.passphrase)) { try await vault.rekey() }
    try await vault.setPassphrase(other, cost: .cheap)
    await vault.close()
    try await vault.unlock(passphrase: other)
    await #expect(throws: VaultError.passphraseNeeded) { try await vault.removeSlot(.keyFile) }
    _ = try await vault.rekey(passphrase: other)
  }

  @Test("Where there is no vault nothing is changed, copied or checked, and none is made")
  func absent() async throws {
    let vault = scratch.vault()
    await #expect(throws: VaultError.absent) { try await vault.setPassphrase(passphrase, cost: .cheap) }
    await #expect(throws: VaultError.absent) { try await vault.addKeyFile() }
    await #expect(throws: VaultError.absent) { try await vault.removeSlot(.keyFile) }
    await #expect(throws: VaultError.absent) { try await vault.rekey() }
    await #expect(throws: VaultError.absent) { try await vault.backup() }
    await #expect(throws: VaultError.absent) { try await vault.check() }
    #expect(await vault.status().state == .absent)
    #expect(try scratch.files() == [:])
  }

  @Test("A vault keeps a way in for daily life")
  func lastSlot() async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    await #expect(throws: VaultError.slotNeeded(.keyFile)) { try await vault.removeSlot(.keyFile) }
    try await vault.setPassphrase(passphrase, cost: .cheap)
    try await vault.removeSlot(.keyFile, current: passphrase)
    await #expect(throws: VaultError.slotNeeded(.passphrase)) {
      try await vault.removeSlot(.passphrase, current: passphrase)
    }
    try await vault.removeSlot(.recoveryCode, current: passphrase)
    await vault.close()
    try await vault.unlock(passphrase: passphrase)
    await #expect(throws: VaultError.noSuchSlot(.recoveryCode)) {
      try await vault.unlock(recoveryCode: Secret(RecoveryCode(random: SystemRandom()).reveal()))
    }
  }

  @Test(
    "A cost that was changed in the file opens nothing; one out of bounds is refused before it is paid",
    arguments: [
      ("passes = 2", VaultError.wrongPassphrase), ("memory_kib = 8193", .wrongPassphrase),
      ("memory_kib = 4000000000", .damaged(.slot, what: "slot 3: Argon2id memory")),
      ("passes = 0", .damaged(.slot, what: "slot 3: Argon2id passes")),
      ("salt = x'00'", .damaged(.slot, what: "slot 3: Argon2id salt")),
    ])
  func plantedCost(change: String, expected: VaultError) async throws {
    let (vault, _) = try await scratch.protectedVault(passphrase)
    await vault.close()
    try SQLiteConnection(path: scratch.location.databaseFile).run("UPDATE slot SET \(change) WHERE number = 3")
    await #expect(throws: expected) { try await vault.unlock(passphrase: passphrase) }
  }

  // MARK: Guessing

  @Test(
    "Wrong ones cost a growing wait after the third",
    arguments: [(0, 0.0), (3, 0), (4, 1), (5, 2), (6, 4), (7, 8), (8, 16), (9, 30), (10, 30), (1_000_000, 30)])
  func delays(count: Int, seconds: Double) { #expect(FailedAttempts.delaySeconds(after: count) == seconds) }

  @Test("A copy that one may open ends no wait")
  func waitsBesideCopies() async throws {
    let vault = scratch.vault(now: { 1_000 })
    _ = try await vault.create()
    try await vault.setPassphrase(passphrase, cost: .cheap)
    let copy = try await vault.backup().path
    for _ in 1...3 {
      await #expect(throws: VaultError.wrongPassphrase) { try await vault.unlock(passphrase: other) }
    }
    _ = try await vault.check(file: copy, passphrase: passphrase)
    await #expect(throws: VaultError.wrongPassphrase) { try await vault.unlock(passphrase: other) }
    await #expect(throws: VaultError.tooManyTries(retryAfterMilliseconds: 1_000)) {
      try await vault.unlock(passphrase: other)
    }
  }

  @Test("While the wait lasts nothing is hashed and records are served; the right one ends it")
  func waits() async throws {
    let clock = Mutex(1_000.0)
    let vault = scratch.vault(now: { clock.withLock { $0 } })
    _ = try await vault.create()
    try await vault.put(.sample(1))
    try await vault.setPassphrase(passphrase, cost: .cheap)
    for _ in 1...4 {
      await #expect(throws: VaultError.wrongPassphrase) { try await vault.unlock(passphrase: other) }
    }
    await #expect(throws: VaultError.tooManyTries(retryAfterMilliseconds: 1_000)) {
      try await vault.unlock(passphrase: passphrase)
    }
    #expect(try await vault.held() == [Held(.sample(1))])
    clock.withLock { $0 += 0.5 }
    await #expect(throws: VaultError.tooManyTries(retryAfterMilliseconds: 500)) {
      try await vault.removeSlot(.keyFile, current: passphrase)
    }
    clock.withLock { $0 += 0.5 }
    try await vault.unlock(passphrase: passphrase)
    for _ in 1...3 {
      await #expect(throws: VaultError.wrongPassphrase) { try await vault.unlock(passphrase: other) }
    }
    try await vault.unlock(passphrase: passphrase)
  }

  @Test("One is hashed and four wait; the sixth is refused")
  func crowd() throws {
    let stretcher = Stretcher(now: { 0 })
    for _ in 1...5 { try stretcher.enter() }
    #expect(throws: VaultError.tooManyUnlocks) { try stretcher.enter() }
    stretcher.leave()
    try stretcher.enter()
  }

  @Test("Records are read, written and locked away while somebody's passphrase is being hashed")
  func blocksNobody() async throws {
    let (vault, _) = try await scratch.protectedVault(passphrase)
    vault.stretcher.queue.suspend()
    let unlocking = Task { try await vault.unlock(passphrase: passphrase) }
    try await vault.put(.sample(2))
    #expect(try await vault.held().count == 2)
    try await vault.lock()
    #expect(await vault.status().state == .locked)
    vault.stretcher.queue.resume()
    try await unlocking.value
    #expect(try await vault.held().count == 2)
  }
}
