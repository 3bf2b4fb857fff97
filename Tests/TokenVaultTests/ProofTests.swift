import Dispatch
import Sealing
import Testing

@testable import TokenVault

@Suite("A secret that is replaced while somebody who knows it changes the vault")
struct ProofTests {
  let scratch: Scratch
  let leaked = Secret("leaked passphrase")
  let new = Secret("new and secret")
  let theirs = Secret("the thief's own")

  init() throws { scratch = try Scratch() }

  /// Both are let in, one after the other, before the first hash of either is made; what they then hash, they hash in turn.
  private func together<First: Sendable, Second: Sendable>(
    _ vault: Vault, _ first: @escaping @Sendable () async throws -> First,
    _ second: @escaping @Sendable () async throws -> Second
  ) async -> (Result<First, any Error>, Result<Second, any Error>) {
    vault.stretcher.queue.suspend()
    let one = Task { try await first() }
    await hashing(1, in: vault)
    let other = Task { try await second() }
    await hashing(2, in: vault)
    vault.stretcher.queue.resume()
    return (await one.result, await other.result)
  }

  /// Returns when `count` callers wait for their hash.
  private func hashing(_ count: Int, in vault: Vault) async {
    while vault.stretcher.count < count { await Task.yield() }
    _ = await vault.status()
  }

  private func isRefused<Value>(_ result: Result<Value, any Error>) -> Bool {
    if case .failure(VaultError.slotsChanged) = result { true } else { false }
  }

  /// Whether the first of them was done. One was, and the other refused: where they hash as much as each other, either is.
  private func isFirstDone<First, Second>(
    _ first: Result<First, any Error>, _ second: Result<Second, any Error>
  ) throws -> Bool {
    if isRefused(first) {
      _ = try second.get()
    } else {
      _ = try first.get()
      #expect(isRefused(second))
    }
    return !isRefused(first)
  }

  private func expectSealed(_ vault: Vault, by passphrase: Secret, not other: Secret? = nil) async throws {
    try await vault.lock()
    await #expect(throws: VaultError.wrongPassphrase) { try await vault.unlock(passphrase: other ?? theirs) }
    try await vault.unlock(passphrase: passphrase)
  }

  @Test("Of two that set a first passphrase one is told so, and the other that it was too late")
  func first() async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    let (mine, other) = await together(
      vault, { try await vault.setPassphrase(new, cost: .cheap) },
      { try await vault.setPassphrase(theirs, cost: .cheap) })
    let isMine = try isFirstDone(mine, other)
    try await expectSealed(vault, by: isMine ? new : theirs, not: isMine ? theirs : new)
  }

  @Test("Who knew the passphrase before a change sets none after it")
  func change() async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    try await vault.setPassphrase(leaked, cost: .cheap)
    let (mine, other) = await together(
      vault, { try await vault.setPassphrase(new, current: leaked, cost: .cheap) },
      { try await vault.setPassphrase(theirs, current: leaked, cost: .cheap) })
    let isMine = try isFirstDone(mine, other)
    try await expectSealed(vault, by: isMine ? new : theirs, not: isMine ? theirs : new)
  }

  @Test("Who knew the recovery code before a new one sets no passphrase after it")
  func renew() async throws {
    let vault = scratch.vault()
    let code = Secret(try await vault.create().reveal())
    try await vault.setPassphrase(new, cost: .cheap)
    let (mine, other) = await together(
      vault, { try await vault.renewRecoveryCode(current: new) },
      { try await vault.setPassphrase(theirs, current: code, cost: .cheap) })
    _ = try mine.get()
    #expect(isRefused(other))
    try await expectSealed(vault, by: new)
  }

  @Test("Nor after a rekey", arguments: [true, false])
  func rekey(hasPassphrase: Bool) async throws {
    let vault = scratch.vault()
    let code = Secret(try await vault.create().reveal())
    try await vault.put(.sample(1))
    if hasPassphrase { try await vault.setPassphrase(new, cost: .cheap) }
    let (other, mine) = await together(
      vault, { try await vault.setPassphrase(theirs, current: code, cost: .cheap) },
      { try await vault.rekey(passphrase: hasPassphrase ? new : nil) })
    if hasPassphrase {
      // He has fewer hashes to make, so it is the owner who is told.
      _ = try other.get()
      #expect(isRefused(mine))
    } else {
      #expect(try mine.get() != nil)
      #expect(isRefused(other))
      #expect(await vault.status().slots.map(\.kind) == [.keyFile, .recoveryCode])
    }
    #expect(try await vault.held() == [Held(.sample(1))])
  }

  @Test("A rekey does not bring back the passphrase from before a change")
  func rekeyByOld() async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    try await vault.setPassphrase(leaked, cost: .cheap)
    let (mine, other) = await together(
      vault, { try await vault.setPassphrase(new, current: leaked, cost: .cheap) },
      { try await vault.rekey(passphrase: leaked) })
    _ = try mine.get()
    #expect(isRefused(other))
    try await expectSealed(vault, by: new)
  }

  @Test("Who knew the passphrase removes and adds no slot after a change", arguments: [true, false])
  func slots(removes: Bool) async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    try await vault.setPassphrase(leaked, cost: .cheap)
    try await vault.put(.sample(1))
    let (mine, other) = await together(
      vault, { try await vault.removeSlot(.recoveryCode, current: leaked) },
      {
        if removes {
          try await vault.removeSlot(.passphrase, current: leaked)
        } else {
          try await vault.addKeyFile(current: leaked)
        }
      })
    let isMine = try isFirstDone(mine, other)
    let kinds = await vault.status().slots.map(\.kind)
    #expect(kinds.contains(.recoveryCode) != isMine && kinds.contains(.passphrase) == (isMine || !removes))
  }

  @Test("A code that was renewed meanwhile ends no lock")
  func unlock() async throws {
    let vault = scratch.vault()
    let code = Secret(try await vault.create().reveal())
    let (mine, other) = await together(
      vault, { try await vault.renewRecoveryCode() }, { try await vault.unlock(recoveryCode: code) })
    _ = try mine.get()
    #expect(isRefused(other))
  }
}
