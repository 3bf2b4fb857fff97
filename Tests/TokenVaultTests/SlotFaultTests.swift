import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("Vault: changes of the slots that are cut short, and unlocks that fail")
struct SlotFaultTests {
  let scratch: Scratch
  let passphrase = Secret("correct horse battery")
  let other = Secret("staple, correct horse")

  init() throws { scratch = try Scratch() }

  @Test("A key file that a killed removal of its slot has left goes with the next opening; any other stays")
  func killedRemoval() async throws {
    let (vault, _) = try await scratch.protectedVault(passphrase)
    let key = try scratch.read(scratch.location.keyFile)
    try await vault.removeSlot(.keyFile, current: passphrase)
    await vault.close()
    for (isDue, looks) in [(false, false), (true, false), (true, true)] {
      // As a kill between the commit and the removal leaves it.
      try scratch.write(key, to: scratch.location.keyFile)
      if isDue { try scratch.write([], to: "\(scratch.path)/data/oauthctl/vault.purge") }
      let next = scratch.vault()
      try await next.unlock(passphrase: passphrase)
      // Whoever looks first ends it.
      if looks { _ = await next.status() } else { _ = try await next.loadAll() }
      #expect((access(scratch.location.keyFile, F_OK) == 0) == !isDue)
      #expect(await next.status().purgeProblem == nil)
      await next.close()
      #expect(access("\(scratch.path)/data/oauthctl/vault.purge", F_OK) != 0)
    }
  }

  @Test("A key file that a recovery code brings back leaves nothing of the slot before it to the next opening")
  func broughtBack() async throws {
    let (vault, code) = try await scratch.protectedVault(passphrase)
    await vault.close()
    unlink(scratch.location.keyFile)
    let next = scratch.vault()
    try await next.unlock(recoveryCode: Secret(code.reveal()))
    #expect(access(scratch.location.keyFile, F_OK) == 0)
    #expect(access("\(scratch.path)/data/oauthctl/vault.purge", F_OK) != 0)
  }

  @Test("A key file that cannot be removed is told, and its removal is tried again, over a restart too")
  func stuckKeyFile() async throws {
    let (vault, _) = try await scratch.protectedVault(passphrase)
    let state = "\(scratch.path)/state/oauthctl"
    chmod(state, 0o777)
    await #expect {
      try await vault.removeSlot(.keyFile, current: passphrase)
    } throws: { error in
      guard case .storageFailed(let why) = error as? VaultError else { return false }
      return why.contains("the change is made, but what opened it before may still be there") && why.contains(state)
    }
    for _ in 1...2 {
      #expect(await vault.status().purgeProblem?.contains(state) == true)
      #expect(access(scratch.location.keyFile, F_OK) == 0)
      // A change of another slot does not forget it.
      _ = try await vault.renewRecoveryCode(current: passphrase)
      await vault.close()
      try await vault.unlock(passphrase: passphrase)
    }
    chmod(state, 0o700)
    #expect(await vault.status().purgeProblem == nil)
    #expect(access(scratch.location.keyFile, F_OK) != 0)
  }

  @Test("A key file of another vault outlives the change of another slot")
  func foreignKeyFile() async throws {
    let (vault, _) = try await scratch.protectedVault(passphrase)
    try await vault.removeSlot(.keyFile, current: passphrase)
    try scratch.write([1], to: scratch.location.keyFile)
    try await vault.setPassphrase(other, current: passphrase, cost: .cheap)
    #expect(access(scratch.location.keyFile, F_OK) == 0)
  }

  @Test("An unlock that cannot end the lock forgets the keys again, and the next one has to prove a secret")
  func unlockThatFails() async throws {
    let (vault, _) = try await scratch.protectedVault(passphrase)
    try await vault.removeSlot(.keyFile, current: passphrase)
    for isRestarted in [false, true] {
      try await vault.lock()
      if isRestarted { await vault.close() }
      // A folder of that name is what `unlinkat` does not remove.
      let held = "\(scratch.path)/data/oauthctl/vault.held"
      #expect(unlink(held) == 0 && mkdir(held, 0o700) == 0)
      await #expect(throws: VaultError.self) { try await vault.unlock(passphrase: passphrase) }
      rmdir(held)
      #expect(await vault.status().state == .locked)
      await #expect(throws: VaultError.locked) { try await vault.unlock() }
      await #expect(throws: VaultError.locked) { try await vault.loadAll() }
      try await vault.unlock(passphrase: passphrase)
      #expect(try await vault.held() == [Held(.sample(1))])
    }
  }
}
