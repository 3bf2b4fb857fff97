import Sealing
import Testing

@testable import TokenVault

@Suite("The published vectors of format 1")
struct FormatVectorTests {
  let vectors: FormatVectors

  init() throws { vectors = try FormatVectors.load() }

  @Test("The data key gives each derived key")
  func keys() throws {
    let keys = try vectors.vaultKeys
    let derived = [
      "records": keys.records, "catalogue": keys.catalogue, "row names": keys.rowNames, "counter": keys.counter,
      "slots": keys.slots,
    ]
    #expect(vectors.format == VaultFormat.version && vectors.keys.count == derived.count)
    for vector in vectors.keys {
      let key = try #require(derived[vector.use])
      #expect(key.withBytes { Array($0) } == vector.key.all, "\(vector.use)")
    }
  }

  @Test("A key file is written and read as its line says")
  func keyFile() throws {
    let scratch = try Scratch()
    let random = FormatVectors.GivenBytes(all: vectors.keyFile.key.all)
    _ = try KeyFile.readOrCreate(scratch.location.keyFile, random: random)
    #expect(try scratch.read(scratch.location.keyFile) == Array(vectors.keyFile.line.utf8))
    let key = try #require(try KeyFile.read(scratch.location.keyFile))
    #expect(key.withBytes { Array($0) } == vectors.keyFile.key.all)
    #expect(try key.derived(1, for: "oavkeyfl").withBytes { Array($0) } == vectors.keyFile.wrappingKey.all)
  }

  @Test("A recovery code is made of its random bytes, and read as people type it")
  func recoveryCode() throws {
    let vector = vectors.recoveryCode
    #expect(RecoveryCode(random: FormatVectors.GivenBytes(all: vector.random.all)).reveal() == vector.shown)
    for typed in vector.typed + [vector.shown] {
      #expect(RecoveryCode(typed: Secret(typed))?.canonical == Secret(vector.hashed), "\(typed)")
    }
    for typed in vector.wrong { #expect(RecoveryCode(typed: Secret(typed)) == nil, "\(typed)") }
  }

  @Test("Each kind of slot wraps the data key in these very bytes, and opens")
  func slots() throws {
    #expect(vectors.slots.map(\.kind) == [1, 2, 3])
    for vector in vectors.slots {
      let kind = try #require(SlotKind(rawValue: vector.kind))
      let (data, vaultID, nonce) = (try vectors.dataKey.key, vectors.vaultId.all, vector.sealed.nonce)
      let made: Slot
      let opened: SealingKey
      if kind == .keyFile {
        let key = try vectors.keyFile.key.key
        made = try Slot.keyFile(wrapping: data, under: key, vaultID: vaultID, random: nonce)
        opened = try vector.slot.open(keyFile: key, vaultID: vaultID)
      } else {
        let typed = Secret(vector.secret)
        let secret = try #require(kind == .recoveryCode ? RecoveryCode(typed: typed)?.canonical : typed)
        let key = try PasswordHash.argon2id(secret, salt: vector.salt.all, cost: vector.slot.cost())
        #expect(key.withBytes { Array($0) } == vector.wrappingKey.all)
        made = try Slot.stretched(
          kind, wrapping: data, under: key, salt: vector.salt.all, cost: vector.slot.cost(), vaultID: vaultID,
          random: nonce)
        opened = try vector.slot.open(stretched: key, vaultID: vaultID)
      }
      #expect(made == vector.slot)
      #expect(opened.withBytes { Array($0) } == vectors.dataKey.all)
      #expect(try made.fingerprint(keys: vectors.vaultKeys) == vector.fingerprint.all)
    }
  }

  @Test("Records are sealed and found in these very bytes, and open")
  func records() throws {
    let keys = try vectors.vaultKeys
    for vector in vectors.records {
      let record = vectors.record(vector)
      let sealed = try RecordSeal.seal(
        record, commit: vector.commit, vaultID: vectors.vaultId.all, keys: keys, random: vector.sealed.nonce)
      #expect(sealed == vector.sealed.all)
      #expect(try keys.rowName(of: record.id) == vector.rowKey.all)
      let opened = try RecordSeal.open(
        vector.sealed.all, id: record.id, entry: Catalogue.Entry(version: vector.version, commit: vector.commit),
        vaultID: vectors.vaultId.all, keys: keys)
      #expect(Held(opened) == Held(record))
    }
  }

  @Test("A catalogue is sealed in these very bytes, with and without a rollback, and opens")
  func catalogue() throws {
    for vector in [vectors.catalogue, vectors.rolledBackCatalogue] {
      let contents = vectors.contents(of: vector)
      #expect(contents.encoded() == vector.plaintext.all)
      let sealed = try contents.sealed(
        vaultID: vectors.vaultId.all, keys: vectors.vaultKeys, random: vector.sealed.nonce)
      #expect(sealed == vector.sealed.all)
      let opened = try Catalogue(opening: vector.sealed.all, vaultID: vectors.vaultId.all, keys: vectors.vaultKeys)
      #expect(opened == contents)
    }
  }

  @Test("The commit counter's file is written and read in these very bytes")
  func counter() throws {
    let scratch = try Scratch()
    let counter = CommitCounter(
      path: scratch.location.counterFile, vaultID: vectors.vaultId.all, key: try vectors.vaultKeys.counter)
    for vector in vectors.counter {
      try counter.write(vector.commit)
      let file = try scratch.read(counter.path)
      #expect(Array(file[Int(vector.commit % 2) * 64..<Int(vector.commit % 2) * 64 + 64]) == vector.place.all)
      #expect(try counter.read() == .commit(vector.commit))
    }
    #expect(try scratch.read(counter.path) == vectors.counterFile.all)
  }

  @Test("A letter for a locked vault opens, has its name, and is sealed to the key pair that the data key gives")
  func letter() throws {
    let (vector, vaultID) = (vectors.letter, vectors.vaultId.all)
    let seed = try vectors.dataKey.key.derived(6, for: "oauthctl")
    #expect(seed.withBytes { Array($0) } == vector.seed.all)
    let keyPair = try vectors.vaultKeys.keyPairOfLateAnswers()
    #expect(keyPair.publicKey.bytes == vector.publicKey.all)
    let opened = LateAnswer.open(vector.file.all, number: vector.number, vaultID: vaultID, by: keyPair)
    let (record, payload) = try #require(opened)
    #expect(record.bytes == vector.recordId.all && payload == Secret(vector.payload.all))
    let folders = LateAnswerFolders(paths: [], vaultID: vaultID)
    #expect(LateAnswerFolders.File(folder: "", tag: folders.tag(of: record), number: vector.number).name == vector.name)
    // The sender's key is random: no two are alike, and each is as long.
    let again = try LateAnswer.seal(
      payload, for: record, number: vector.number, vaultID: vaultID, to: keyPair.publicKey)
    #expect(again.count == vector.file.all.count && again != vector.file.all)
    let reopened = LateAnswer.open(again, number: vector.number, vaultID: vaultID, by: keyPair)
    #expect(reopened?.payload == payload)
  }

  @Test("The whole vault opens by its key file, its recovery code and its passphrase", arguments: SlotKind.all)
  func wholeVault(kind: SlotKind) async throws {
    let scratch = try Scratch()
    let vault = scratch.vault()
    _ = try await vault.create()
    await vault.close()
    try scratch.write(Array(vectors.keyFile.line.utf8), to: scratch.location.keyFile)
    try scratch.write(vectors.counterFile.all, to: scratch.location.counterFile)
    try plant(in: scratch.location)
    let secret = try #require(vectors.slots.first { $0.kind == kind.rawValue }).secret
    switch kind {
    case .keyFile: break
    case .recoveryCode: try await vault.unlock(recoveryCode: Secret(secret))
    case .passphrase: try await vault.unlock(passphrase: Secret(secret))
    }
    #expect(try await vault.held() == vectors.records.map { Held(vectors.record($0)) })
    let status = await vault.status()
    #expect(status.slots.map(\.isIntact) == [true, true, true])
    #expect(status.commit == 7 && status.rollback == nil && status.counterProblem == nil)
    await vault.close()
  }

  private func plant(in location: VaultLocation) throws {
    let connection = try SQLiteConnection(path: location.databaseFile)
    try connection.run("UPDATE meta SET value = ? WHERE name = 'vault_id'", [.blob(vectors.vaultId.all)])
    try connection.run("UPDATE meta SET value = ? WHERE name = 'catalogue'", [.blob(vectors.catalogue.sealed.all)])
    for vector in vectors.slots { try VaultDatabase.insert(vector.slot, into: connection) }
    for vector in vectors.records {
      try connection.run(
        "INSERT INTO record (row_key, sealed) VALUES (?, ?)", [.blob(vector.rowKey.all), .blob(vector.sealed.all)])
    }
  }
}

extension SlotKind {
  fileprivate static let all: [SlotKind] = [.keyFile, .recoveryCode, .passphrase]
}
