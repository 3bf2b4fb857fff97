package import Sealing

/// What came while the vault was locked.
extension Vault {
  /// Nil while the vault has no key: one that a failed write has closed is locked like an open one. Whoever has it can use it for
  /// as long as the data key stays.
  package var lateAnswerStore: (any LateAnswerStore)? {
    guard let keys, let folders, let keyPair = try? keys.keyPairOfLateAnswers() else { return nil }
    return SealedLateAnswerStore(folders: folders, publicKey: keyPair.publicKey)
  }

  package func lateAnswers() async throws(VaultError) -> [(record: RecordID, payload: Secret)] {
    guard let session = try openedSession(), let keys, let folders else { return [] }
    do throws(VaultError) { return try read(folders, keys, of: session) } catch { throw shut(error) }
  }

  /// Throws where there may be one that cannot be read: without it a refresh token may be sent a second time.
  private func read(
    _ folders: LateAnswerFolders, _ keys: VaultKeys, of session: Session
  ) throws(VaultError) -> [(record: RecordID, payload: Secret)] {
    var found: [(record: RecordID, payload: Secret)] = []
    handedOut = [:]
    try LateAnswerFolders.alone { () throws(VaultError) in
      folders.removeDrafts()
      let files = try folders.files()
      // A key pair takes three hundredths of a start's instructions, and hardly ever is there anything to open.
      guard !files.isEmpty else { return }
      let own = Set(session.catalogue.entries.keys.map(folders.tag))
      let keyPair = try keys.keyPairOfLateAnswers()
      for file in files {
        let judgement: LateAnswerFolders.Judgement
        do throws(VaultError) { judgement = try folders.judge(file, by: keyPair) } catch {
          guard own.contains(file.tag) else { continue }
          throw error
        }
        switch judgement {
        case .lateAnswer(let record, let payload):
          handedOut[record, default: []].insert(file)
          found.append((record, payload))
        // Sealed to another key, or damaged. To the vault that belongs here, where this is an old one, it may be of use.
        case .unusable: if rollback == nil { try? folders.remove([file]) }
        case .foreign: break
        }
      }
    }
    return found
  }

  package func removeLateAnswers(of record: RecordID) async throws(VaultError) {
    guard let folders, let files = handedOut[record] else { return }
    try LateAnswerFolders.alone { () throws(VaultError) in try folders.remove(files) }
    handedOut[record] = nil
  }

  private var folders: LateAnswerFolders? {
    vaultID.map { LateAnswerFolders(paths: location.lateAnswerDirectories, vaultID: $0) }
  }

  // MARK: A new data key

  /// Late answers before and after a rekey.
  struct ResealedLateAnswers {
    /// All that are for this vault, opened or not.
    var old: Set<LateAnswerFolders.File> = []
    var new: [LateAnswerFolders.File: LateAnswerFolders.File] = [:]
  }

  /// Seals every late answer once more, for a vault with `newKeys`.
  func resealLateAnswers(under newKeys: VaultKeys) throws(VaultError) -> ResealedLateAnswers {
    var lateAnswers = ResealedLateAnswers()
    guard let keys, let folders else { return lateAnswers }
    let keyPair = try keys.keyPairOfLateAnswers()
    let newKey = try newKeys.keyPairOfLateAnswers().publicKey
    try LateAnswerFolders.alone { () throws(VaultError) in
      let files = try folders.files()
      do throws(VaultError) {
        for file in files {
          switch try folders.judge(file, by: keyPair) {
          case .lateAnswer(let record, let payload):
            lateAnswers.old.insert(file)
            lateAnswers.new[file] = try folders.write(payload, for: record, to: newKey, isCopy: true)
          case .unusable: lateAnswers.old.insert(file)
          case .foreign: break
          }
        }
      } catch {
        try? folders.remove(lateAnswers.new.values)
        throw error
      }
    }
    return lateAnswers
  }

  /// Removes what only the old key opens, or, where the rekey `failed`, only the new one.
  func removeLateAnswers(_ lateAnswers: ResealedLateAnswers, failed: Bool) {
    guard let folders else { return }
    // What stays is removed by the next reader, to whom it does not open.
    try? LateAnswerFolders.alone { () throws(VaultError) in
      if failed { try folders.remove(lateAnswers.new.values) } else { try folders.remove(lateAnswers.old) }
    }
    if !failed { handedOut = handedOut.mapValues { Set($0.compactMap { lateAnswers.new[$0] }) } }
  }
}

extension VaultKeys {
  /// Derived when it is needed: the secret key lies nowhere in between.
  func keyPairOfLateAnswers() throws(VaultError) -> SealedBox.KeyPair {
    do throws(SealingError) { return try SealedBox.KeyPair(seed: data.derived(6, for: "oauthctl")) } catch {
      throw error.vaultError
    }
  }
}

extension LateAnswerFolders {
  enum Judgement {
    case lateAnswer(RecordID, Secret)
    /// This vault's, and does not open.
    case unusable
    /// Another vault's, or nothing that an agent wrote.
    case foreign
  }

  func judge(_ file: File, by keyPair: borrowing SealedBox.KeyPair) throws(VaultError) -> Judgement {
    guard let bytes = try read(file), LateAnswer.isFor(vaultID, bytes) else { return .foreign }
    guard let (record, payload) = LateAnswer.open(bytes, number: file.number, vaultID: vaultID, by: keyPair),
      tag(of: record) == file.tag
    else { return .unusable }
    return .lateAnswer(record, payload)
  }
}
