import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("What a slot leaves behind")
struct TraceTests {
  let scratch: Scratch
  let passphrase = Secret("correct horse battery")

  init() throws { scratch = try Scratch() }

  @Test(
    "A removed or changed slot leaves its wrapped key and salt in no file, neither free pages nor log",
    arguments: ["change", "remove", "renew", "rekey", "key file"], [0, 40])
  func traces(what: String, records: UInt8) async throws {
    let vault = scratch.vault()
    _ = try await vault.create()
    for name in 0..<records { try await vault.put(.sample(name, size: 900)) }
    try await vault.setPassphrase(passphrase, cost: .cheap)
    for name in 0..<records { try await vault.put(.sample(name, version: 2, size: 1_900)) }
    let kind: SlotKind =
      switch what {
      case "renew": .recoveryCode
      case "key file": .keyFile
      default: .passphrase
      }
    let old = try #require(await vault.openSlot(kind))
    #expect(try !scratch.files(with: old.sealed).isEmpty)
    let keyLine = try scratch.read(scratch.location.keyFile)
    switch what {
    case "change": try await vault.setPassphrase(Secret("another passphrase"), current: passphrase, cost: .cheap)
    case "remove": try await vault.removeSlot(.passphrase, current: passphrase)
    case "renew": _ = try await vault.renewRecoveryCode(current: passphrase)
    case "key file": try await vault.removeSlot(.keyFile, current: passphrase)
    default: _ = try await vault.rekey(passphrase: passphrase)
    }
    for part in [Array(old.sealed.prefix(24)), Array(old.sealed.suffix(32)), old.salt] where !part.isEmpty {
      #expect(try scratch.files(with: part) == [])
    }
    if ["key file", "rekey"].contains(what) { #expect(try scratch.files(with: Array(keyLine.dropLast(10))) == []) }
    #expect(try await vault.held().count == Int(records))
    await vault.close()
    if what == "remove" { return _ = try await scratch.vault().loadAll() }
    try await vault.unlock(passphrase: Secret(what == "change" ? "another passphrase" : "correct horse battery"))
  }
}

extension Vault {
  func openSlot(_ kind: SlotKind) -> Slot? { session?.slot(kind) }
}
