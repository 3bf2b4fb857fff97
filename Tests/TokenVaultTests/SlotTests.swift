import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("The vault's slots")
struct SlotTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test("A recovery code is six groups of five and reads back as people type it")
  func recoveryCodeText() throws {
    struct Counting: RandomSource {
      func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0) } }
    }
    let code = RecoveryCode(random: Counting())
    let text = code.reveal()
    #expect(text == "01234-56789-ABCDE-FGHJK-MNPQR-Y309M")
    #expect("\(code)" == "<recovery code>")
    let sloppy = " " + text.lowercased().replacing("-", with: " ").replacing("0", with: "o").replacing("1", with: "l")
    #expect(RecoveryCode(typed: Secret(sloppy))?.canonical == code.canonical)
  }

  @Test("Every single wrong or missing character of a recovery code is noticed")
  func recoveryCodeMistakes() throws {
    let text = Array(RecoveryCode(random: SystemRandom()).reveal().utf8)
    for index in text.indices where text[index] != UInt8(ascii: "-") {
      for other in Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8) where other != text[index] {
        var wrong = text
        wrong[index] = other
        #expect(RecoveryCode(typed: Secret(wrong)) == nil)
      }
      var short = text
      short.remove(at: index)
      #expect(RecoveryCode(typed: Secret(short)) == nil)
    }
    for text in ["", "-", "U", String(repeating: "0", count: 30), String(repeating: "0", count: 300), "é"] {
      #expect(RecoveryCode(typed: Secret(text)) == nil)
    }
  }

  @Test("The recovery code opens a vault whose key file is gone, and makes a new one that opens it from then on")
  func recovery() async throws {
    let first = scratch.vault()
    let code = try await first.create()
    try await first.put(.sample(1))
    await first.close()
    #expect(unlink(scratch.location.keyFile) == 0)
    let vault = scratch.vault()
    await #expect(throws: VaultError.keyMissing(path: scratch.location.keyFile)) { try await vault.loadAll() }
    await #expect(throws: VaultError.invalidRecoveryCode) {
      try await vault.unlock(recoveryCode: Secret(RecoveryCode(random: SystemRandom()).reveal()))
    }
    #expect(access(scratch.location.keyFile, F_OK) != 0)
    try await vault.unlock(recoveryCode: Secret(code.reveal()))
    #expect(try await vault.held() == [Held(.sample(1))])
    #expect(await vault.status().slots.map(\.isIntact) == [true, true])
    await vault.close()
    #expect(try await vault.held() == [Held(.sample(1))])
    #expect(await vault.status().slots.map(\.isIntact) == [true, true])
    #expect(await vault.rollback == nil)
  }

  @Test("A recovery with a key file that is another vault's puts that aside, and makes one of its own")
  func recoveryWithForeignKey() async throws {
    let first = scratch.vault()
    let code = try await first.create()
    try await first.put(.sample(1))
    await first.close()
    let other = try Scratch()
    _ = try await other.vault().create()
    let foreign = try other.read(other.location.keyFile)
    try scratch.write(foreign, to: scratch.location.keyFile)
    let vault = scratch.vault()
    try await vault.unlock(recoveryCode: Secret(code.reveal()))
    #expect(try scratch.read(scratch.location.keyFile) != foreign)
    #expect(try scratch.read(scratch.location.keyFile + ".damaged") == foreign)
    await vault.close()
    #expect(try await vault.held() == [Held(.sample(1))])
  }

  @Test("A planted Argon2id cost beyond the bounds is refused before it is paid")
  func plantedCost() async throws {
    let vault = scratch.vault()
    let code = try await vault.create()
    await vault.close()
    try SQLiteConnection(path: scratch.location.databaseFile)
      .run("UPDATE slot SET memory_kib = 4000000000 WHERE number = 2")
    let error = await #expect(throws: VaultError.self) { try await vault.unlock(recoveryCode: Secret(code.reveal())) }
    #expect(error == .damaged(.slot, what: "slot 2: Argon2id memory"))
  }

  @Test("A locked vault stays locked over restarts until it is unlocked, and forgets its keys")
  func hold() async throws {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    try await vault.lock()
    #expect(await vault.keys == nil)
    await #expect(throws: VaultError.locked) { try await vault.loadAll() }
    await #expect(throws: VaultError.locked) { try await vault.put(.sample(2)) }
    #expect(await vault.status().state == .locked)
    await vault.close()
    let restarted = scratch.vault()
    await #expect(throws: VaultError.locked) { try await restarted.loadAll() }
    try await restarted.unlock()
    #expect(try await restarted.held() == [Held(.sample(1))])
    #expect(await restarted.status().state == .open)
    await restarted.close()
    #expect(try await scratch.vault().held() == [Held(.sample(1))])
  }

  @Test("A vault that cannot be opened stays locked; the recovery code ends a lock too")
  func holdWithoutKey() async throws {
    let vault = scratch.vault()
    let code = try await vault.create()
    try await vault.lock()
    #expect(unlink(scratch.location.keyFile) == 0)
    await #expect(throws: VaultError.keyMissing(path: scratch.location.keyFile)) { try await vault.unlock() }
    #expect(await vault.status().state == .locked)
    try await vault.unlock(recoveryCode: Secret(code.reveal()))
    #expect(await vault.status().state == .open)
  }
}
