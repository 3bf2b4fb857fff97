import CLinux
import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("What a step that failed or was killed leaves")
struct StrayTests {
  let scratch: Scratch
  let passphrase = Secret("correct horse battery")

  init() throws { scratch = try Scratch() }

  private var folder: String { scratch.location.directory }
  private var state: String { "\(scratch.path)/state/oauthctl" }

  private var names: [String] {
    let copies = ["vault.backup", "vault.check", "vault.db.new"].flatMap { [$0, $0 + "-wal", $0 + "-journal"] }
    return (copies + ["vault.backup.0123456789abcdef", "vault.held.new", "vault.untold.new", "vault.purge.new"]).map {
      "\(folder)/\($0)"
    }
      + ["key.new", "key.next.new", "commits.new"].map { "\(state)/\($0)" }
  }

  private func litter() throws { for path in names { try scratch.write([1, 2, 3], to: path) } }

  private func left() -> [String] { names.filter { access($0, F_OK) == 0 } }

  /// What an owner of a vault does that must leave nothing of before.
  enum Step: CaseIterable {
    case start, setPassphrase, renewCode, addKeyFile, removeSlot, rekey, lock, close
  }

  @Test("is removed by a start, a change of the slots, a rekey, a lock and a stop", arguments: Step.allCases)
  func removed(by step: Step) async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    try await vault.setPassphrase(passphrase, cost: .cheap)
    if step == .start { await vault.close() }
    try litter()
    switch step {
    case .start: _ = try await vault.loadAll()
    case .setPassphrase: try await vault.setPassphrase(passphrase, current: passphrase, cost: .cheap)
    case .renewCode: _ = try await vault.renewRecoveryCode(current: passphrase)
    case .addKeyFile: try await vault.addKeyFile(current: passphrase)
    case .removeSlot: try await vault.removeSlot(.recoveryCode, current: passphrase)
    case .rekey: _ = try await vault.rekey(passphrase: passphrase)
    case .lock: try await vault.lock()
    case .close: await vault.close()
    }
    #expect(left().isEmpty)
  }

  @Test("a key file that a rekey did not come to need goes; one that is needed stays")
  func nextKeyFile() async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    await vault.close()
    let next = state + "/key.next"
    _ = try KeyFile.readOrCreate(next, random: SystemRandom())
    _ = try await vault.loadAll()
    #expect(access(next, F_OK) != 0)
    try await vault.setPassphrase(passphrase, cost: .cheap)
    await vault.close()
    // As a kill leaves it between the database and its key file.
    #expect(rename(scratch.location.keyFile, next) == 0)
    _ = try KeyFile.readOrCreate(scratch.location.keyFile, random: SystemRandom())
    try await vault.unlock(passphrase: passphrase)
    #expect(access(next, F_OK) == 0)
    await vault.close()
    _ = try await vault.loadAll()
    #expect(access(next, F_OK) != 0)
  }

  @Test("a backup that nobody takes away in time is removed")
  func lateBackup() async throws {
    let vault = Vault(
      location: scratch.location, socketPathForLock: "", recoveryCost: .cheap, now: { 0 }, backupLife: .zero)
    try await vault.put(.sample(1))
    let path = try await vault.backup().path
    while access(path, F_OK) == 0 { await Task.yield() }
  }

  @Test("what somebody else named, or is no plain file, is left alone")
  func others() async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    let mine = ["mine", "vault.backup.mine", "vault.backup.1", "vault.given.mine"]
    for name in mine { try scratch.write([1], to: "\(folder)/\(name)") }
    #expect(mkdir("\(folder)/vault.backup", 0o700) == 0)
    #expect(symlink("\(folder)/mine", "\(folder)/vault.check") == 0)
    try await vault.setPassphrase(passphrase, cost: .cheap)
    for name in mine { #expect(access("\(folder)/\(name)", F_OK) == 0, "\(name)") }
    var status = stat()
    #expect(lstat("\(folder)/vault.backup", &status) == 0 && lstat("\(folder)/vault.check", &status) == 0)
  }

  @Test(
    "what oauthctl gave for a check goes with a change of what opens the vault, held or not; after a check, what is not"
  )
  func given() async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    // The first process lives always; a draft has two numbers.
    let left = ["vault.given.1", "vault.given.\(getpid())", "vault.given.1.1.tmp", "vault.given.99999999"]
    func give() throws -> Int32 {
      for name in left + ["vault.given.2"] { try scratch.write([1], to: "\(folder)/\(name)") }
      let held = open("\(folder)/vault.given.2", O_RDWR | O_CLOEXEC)
      try #require(held >= 0 && clinux_try_lock_exclusive(held) == 0)
      return held
    }
    func named() -> Set<String> {
      Set((left + ["vault.given.2"]).filter { access("\(folder)/\($0)", F_OK) == 0 })
    }
    close(try give())
    try await vault.setPassphrase(passphrase, cost: .cheap)
    #expect(named().isEmpty)
    let stopped = try give()
    try await vault.setPassphrase(passphrase, current: passphrase, cost: .cheap)
    #expect(named().isEmpty, "it may be held for as long as somebody likes")
    close(stopped)
    let held = try give()
    await #expect(throws: VaultError.self) { try await vault.check(file: scratch.path + "/none") }
    #expect(named() == ["vault.given.2"])
    close(held)
    // A program that another test starts has the descriptor, and the lock, for a moment.
    let deadline = ContinuousClock.now + .seconds(30)
    repeat {
      await #expect(throws: VaultError.self) { try await vault.check(file: scratch.path + "/none") }
    } while access("\(folder)/vault.given.2", F_OK) == 0 && .now < deadline
    #expect(access("\(folder)/vault.given.2", F_OK) != 0)
    for name in ["vault.given.", "vault.given.0", "vault.given.-1", "vault.given.x", "vault.other.99999999"] {
      #expect(!LeftoverFiles.isGiven(name), "\(name)")
    }
  }

  @Test("a copy that cannot be removed is told by the change that wants it gone")
  func stuck() async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    try scratch.write([1], to: "\(state)/key.new")
    chmod(state, 0o777)
    await #expect {
      try await vault.setPassphrase(passphrase, cost: .cheap)
    } throws: { error in
      guard case .storageFailed(let why) = error as? VaultError else { return false }
      return why.contains("what opened it before may still be there") && why.contains(state)
    }
    #expect(await vault.status().purgeProblem?.contains(state) == true)
    #expect(access("\(state)/key.new", F_OK) == 0)
    chmod(state, 0o700)
    #expect(await vault.status().purgeProblem == nil, "whoever looks has it removed")
    #expect(access("\(state)/key.new", F_OK) != 0)
    try await vault.setPassphrase(passphrase, current: passphrase, cost: .cheap)
  }
}
