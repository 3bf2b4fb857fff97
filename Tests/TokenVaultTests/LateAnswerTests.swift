import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("What comes while the vault is locked")
struct LateAnswerTests {
  let scratch: Scratch
  private let first = VaultRecord.sample(1).id
  private let second = VaultRecord.sample(2).id

  init() throws { scratch = try Scratch() }

  private var folder: String { "\(scratch.path)/state/oauthctl/letters" }
  private var otherFolder: String { "\(scratch.path)/run/letters" }

  private func vault() -> Vault {
    let location = scratch.location
    return Vault(
      location: VaultLocation(
        directory: location.directory, keyFile: location.keyFile, counterFile: location.counterFile,
        asideDirectories: ["\(scratch.path)/run"]),
      socketPathForLock: "\(scratch.path)/agent.sock", recoveryCost: .cheap, now: { 0 })
  }

  private func waiting() throws -> [String: [UInt8]] {
    try scratch.contents(of: folder).merging(scratch.contents(of: otherFolder)) { $1 }
  }

  private func texts(_ vault: Vault) async throws -> [String] {
    try await vault.lateAnswers().map { $0.payload.reveal() }
  }

  /// An open vault with two records, and its store of late answers.
  private func opened() async throws -> (Vault, any LateAnswerStore) {
    let vault = vault()
    try await vault.put(.sample(1))
    try await vault.put(.sample(2))
    return (vault, try #require(await vault.lateAnswerStore))
  }

  @Test("is kept by somebody who has no key, over a lock and a kill, and comes back in its order")
  func comesBack() async throws {
    let (vault, box) = try await opened()
    try await vault.lock()
    #expect(await vault.lateAnswerStore == nil)
    for number in 1...11 { try await box.put(Secret("answer \(number)"), for: number == 3 ? second : first) }
    #expect(try waiting().count == 11)
    await vault.close()

    let next = self.vault()
    await #expect(throws: VaultError.locked) { try await next.lateAnswers() }
    try await next.unlock()
    let lateAnswers = try await next.lateAnswers()
    #expect(lateAnswers.map { $0.payload.reveal() } == (1...11).map { "answer \($0)" })
    #expect(lateAnswers.map(\.record) == (1...11).map { $0 == 3 ? second : first })
    try await next.removeLateAnswers(of: first)
    #expect(try await texts(next) == ["answer 3"])
    try await next.removeLateAnswers(of: second)
    #expect(try waiting().isEmpty)
    #expect(try await next.lateAnswers().isEmpty)
  }

  @Test("is kept also where a failed write has closed the database before the lock")
  func closedByFailure() async throws {
    let (vault, _) = try await opened()
    _ = await vault.shut(.storageFailed("a write"))
    let box = try #require(await vault.lateAnswerStore)
    try await vault.lock()
    try await box.put(Secret("answer"), for: first)
    try await vault.unlock()
    #expect(try await texts(vault) == ["answer"])
  }

  @Test("is sealed and private, and its file tells of no record")
  func sealed() async throws {
    let (_, box) = try await opened()
    let payload = Secret(String(repeating: "a rotated refresh token ", count: 4))
    try await box.put(payload, for: first)
    let (path, bytes) = try #require(try waiting().first)
    let plain = payload.withBytes { Array($0) }
    #expect(!(0...bytes.count - 16).contains { bytes[$0..<$0 + 16].elementsEqual(plain.prefix(16)) })
    #expect(!path.contains(first.description))
    #expect(bytes.count == 20 + SealedBox.overhead + 256)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test("a late answer that came after they were read is not removed with them")
  func laterOne() async throws {
    let (vault, box) = try await opened()
    try await box.put(Secret("one"), for: first)
    #expect(try await texts(vault) == ["one"])
    try await box.put(Secret("two"), for: first)
    try await vault.removeLateAnswers(of: first)
    #expect(try await texts(vault) == ["two"])
    try await vault.removeLateAnswers(of: second)
    #expect(try waiting().count == 1)
  }

  @Test("where the first folder takes nothing, the other does; where neither does, that is said")
  func otherPlace() async throws {
    let (vault, box) = try await opened()
    try scratch.write([1], to: folder)
    try await box.put(Secret("one"), for: first)
    #expect(try scratch.contents(of: otherFolder).count == 1)
    #expect(try await texts(vault) == ["one"])
    unlink(folder)
    try await box.put(Secret("two"), for: first)
    #expect(try await texts(vault) == ["one", "two"])
    chmod(folder, 0o755)
    chmod(otherFolder, 0o755)
    await #expect(throws: VaultError.openToOthers(path: folder, chmod: "700")) {
      try await box.put(Secret("three"), for: first)
    }
  }

  @Test("is read whatever others may do with its file, and wherever its folder was moved", arguments: Moved.allCases)
  func moved(how: Moved) async throws {
    let (vault, box) = try await opened()
    try await box.put(Secret("one"), for: first)
    try how.happen(to: #require(try waiting().keys.first))
    #expect(try await texts(vault) == ["one"])
  }

  @Test("there are 64 late answers for a record, and 512 KiB in each, at most")
  func bounds() async throws {
    let (vault, box) = try await opened()
    let most = Secret([UInt8](repeating: 7, count: 524_288))
    try await box.put(most, for: first)
    await #expect(throws: VaultError.self) {
      try await box.put(Secret([UInt8](repeating: 7, count: 524_289)), for: first)
    }
    for _ in 2...64 { try await box.put(Secret("x"), for: first) }
    await #expect(throws: VaultError.self) { try await box.put(Secret("x"), for: first) }
    try await box.put(Secret("y"), for: second)
    #expect(try await vault.lateAnswers().count == 65)
    #expect(try await vault.lateAnswers().first?.payload == most)
  }

  @Test("there are 4,096 late answers in all at most")
  func boundInAll() async throws {
    let (_, box) = try await opened()
    try await box.put(Secret("x"), for: first)
    for number in 1..<4_096 {
      let tag = Hex.encode([UInt8](repeating: UInt8(number % 251), count: 16))
      try scratch.write([], to: LateAnswerFolders.File(folder: folder, tag: tag, number: UInt64(number) + 1).path)
    }
    await #expect(throws: VaultError.self) { try await box.put(Secret("x"), for: second) }
  }

  @Test("what is damaged, renamed or sealed to another key is left out and removed; another vault's stays")
  func unusable() async throws {
    let (vault, box) = try await opened()
    try await box.put(Secret("good"), for: first)
    let (path, bytes) = try #require(try waiting().first)
    let file = try #require(LateAnswerFolders.File(folder: folder, name: String(path.dropFirst(folder.count + 1))))
    for place in [20, 60, bytes.count - 1] {
      var other = bytes
      other[place] ^= 1
      try scratch.write(other, to: LateAnswerFolders.File(folder: folder, tag: file.tag, number: 5).path)
      #expect(try await texts(vault) == ["good"], "byte \(place)")
      #expect(try waiting().count == 1)
    }
    let cut = Array(bytes.prefix(21))
    let otherTag = String(repeating: "0", count: 32)
    for (bytes, tag, number) in [(cut, file.tag, UInt64(7)), (bytes, otherTag, file.number), (bytes, file.tag, 9)] {
      try scratch.write(bytes, to: LateAnswerFolders.File(folder: folder, tag: tag, number: number).path)
      #expect(try await texts(vault) == ["good"])
      #expect(try waiting().count == 1)
    }
    var foreign = bytes
    foreign[4] ^= 1
    let junk = [UInt8](repeating: 1, count: LateAnswer.maximumCount + 1)
    for (number, bytes) in [foreign, [], junk].enumerated() {
      try scratch.write(
        bytes, to: LateAnswerFolders.File(folder: folder, tag: file.tag, number: UInt64(20 + number)).path)
    }
    try scratch.write([], to: folder + "/something-else")
    #expect(try await texts(vault) == ["good"])
    #expect(try waiting().count == 5)
  }

  @Test("what a kill left half-written is removed")
  func draft() async throws {
    let (vault, box) = try await opened()
    try await box.put(Secret("one"), for: first)
    let path = try #require(try waiting().keys.first)
    try scratch.write([1, 2, 3], to: path + ".new")
    try scratch.write([1, 2, 3], to: folder + "/mine.new")
    #expect(try await texts(vault) == ["one"])
    #expect(Set(try waiting().keys) == [path, folder + "/mine.new"])
  }

  @Test("a new data key takes it over: nothing is lost, and nothing stays that the old key opens")
  func rekeyed() async throws {
    let (vault, box) = try await opened()
    for text in ["one", "two", "three"] { try await box.put(Secret(text), for: first) }
    let before = try waiting()
    #expect(try await vault.lateAnswers().count == 3)
    _ = try await vault.rekey()
    #expect(Set(try waiting().keys).isDisjoint(with: before.keys))
    #expect(try waiting().count == 3)
    // They were handed out before.
    try await vault.removeLateAnswers(of: first)
    #expect(try waiting().isEmpty)
    for (path, bytes) in before { try scratch.write(bytes, to: path) }
    await vault.close()
    let next = self.vault()
    #expect(try await next.lateAnswers().isEmpty)
    #expect(try waiting().isEmpty)
  }

  @Test("a rekey that was cut short leaves it to the vault that is there")
  func rekeyCutShort() async throws {
    let (vault, box) = try await opened()
    for text in ["one", "two"] { try await box.put(Secret(text), for: first) }
    await vault.close()
    let (oldAnswers, old) = (try waiting(), try scratch.files())
    _ = try await self.vault().rekey()
    let (newAnswers, new) = (try waiting(), try scratch.files())
    for files in [old, new] {
      try scratch.restore(files)
      for (path, bytes) in oldAnswers.merging(newAnswers, uniquingKeysWith: { $1 }) {
        try scratch.write(bytes, to: path)
      }
      // Each has its commit there: 3 stands in the odd place, 4 in the even one.
      let commits = "state/oauthctl/commits"
      let both = try #require(new[commits]).prefix(64) + #require(old[commits]).suffix(64)
      try scratch.write(Array(both), to: scratch.location.counterFile)
      let found = self.vault()
      #expect(try await texts(found) == ["one", "two"])
      #expect(try waiting().count == 2)
      await found.close()
    }
  }

  @Test("a vault that was put back leaves alone what it cannot open")
  func rolledBack() async throws {
    let (vault, _) = try await opened()
    await vault.close()
    let old = try scratch.files()
    let rekeyed = self.vault()
    _ = try await rekeyed.rekey()
    try await rekeyed.put(.sample(1, version: 2))
    let box = try #require(await rekeyed.lateAnswerStore)
    try await box.put(Secret("one"), for: first)
    await rekeyed.close()
    let new = try scratch.files()
    for name in ["data/oauthctl/vault.db", "state/oauthctl/key"] {
      try scratch.write(#require(old[name]), to: "\(scratch.path)/\(name)")
    }
    let putBack = self.vault()
    #expect(try await putBack.lateAnswers().isEmpty)
    #expect(await putBack.rollback != nil)
    await putBack.close()
    try scratch.restore(new)
    #expect(try await texts(self.vault()) == ["one"])
  }

  @Test("a record that is deleted takes along what was read for it")
  func deleted() async throws {
    let (vault, box) = try await opened()
    try await box.put(Secret("one"), for: first)
    _ = try await vault.lateAnswers()
    try await vault.delete(first)
    #expect(try waiting().isEmpty)
  }
}
