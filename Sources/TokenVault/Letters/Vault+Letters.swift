package import Sealing

/// What came while the vault was locked.
extension Vault {
  /// Nil while the vault is not open. Whoever has it can use it for as long as the data key stays.
  package var letterbox: (any Letterbox)? {
    guard session != nil, let keys, let folders, let keyPair = try? keys.keyPairOfLetters() else { return nil }
    return SealedLetterbox(folders: folders, publicKey: keyPair.publicKey)
  }

  package func letters() async throws(VaultError) -> [(record: RecordID, payload: Secret)] {
    guard try openedSession() != nil, let keys, let folders else { return [] }
    let keyPair = try keys.keyPairOfLetters()
    var found: [(record: RecordID, payload: Secret)] = []
    handedOut = [:]
    try LetterFolders.alone { () throws(VaultError) in
      folders.removeDrafts()
      let (files, problem) = folders.files()
      letterProblem = problem.map {
        "answers that came while the vault was locked cannot be read: \($0.reason(folders.paths[0]))"
      }
      for file in files {
        switch folders.judge(file, by: keyPair) {
        case .letter(let record, let payload):
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

  package func removeLetters(of record: RecordID) async throws(VaultError) {
    guard let folders, let files = handedOut[record] else { return }
    try LetterFolders.alone { () throws(VaultError) in try folders.remove(files) }
    handedOut[record] = nil
  }

  private var folders: LetterFolders? {
    vaultID.map { LetterFolders(paths: location.letterDirectories, vaultID: $0) }
  }

  // MARK: A new data key

  /// Letters before and after a rekey.
  struct ResealedLetters {
    /// All that are for this vault, opened or not.
    var old: Set<LetterFolders.File> = []
    var new: [LetterFolders.File: LetterFolders.File] = [:]
  }

  /// Seals every letter once more, for a vault with `newKeys`.
  func resealLetters(under newKeys: VaultKeys) throws(VaultError) -> ResealedLetters {
    var letters = ResealedLetters()
    guard let keys, let folders else { return letters }
    let keyPair = try keys.keyPairOfLetters()
    let newKey = try newKeys.keyPairOfLetters().publicKey
    try LetterFolders.alone { () throws(VaultError) in
      let (files, problem) = folders.files()
      if let problem { throw problem }
      do throws(VaultError) {
        for file in files {
          switch folders.judge(file, by: keyPair) {
          case .letter(let record, let payload):
            letters.old.insert(file)
            letters.new[file] = try folders.write(payload, for: record, to: newKey, isCopy: true)
          case .unusable: letters.old.insert(file)
          case .foreign: break
          }
        }
      } catch {
        try? folders.remove(letters.new.values)
        throw error
      }
    }
    return letters
  }

  /// Removes what only the old key opens, or, where the rekey `failed`, only the new one.
  func removeLetters(_ letters: ResealedLetters, failed: Bool) {
    guard let folders else { return }
    // What stays is removed by the next reader, to whom it does not open.
    try? LetterFolders.alone { () throws(VaultError) in
      if failed { try folders.remove(letters.new.values) } else { try folders.remove(letters.old) }
    }
    if !failed { handedOut = handedOut.mapValues { Set($0.compactMap { letters.new[$0] }) } }
  }
}

extension VaultKeys {
  /// Derived when it is needed: the secret key lies nowhere in between.
  func keyPairOfLetters() throws(VaultError) -> SealedBox.KeyPair {
    do throws(SealingError) { return try SealedBox.KeyPair(seed: data.derived(6, for: "oauthctl")) } catch {
      throw error.vaultError
    }
  }
}

extension LetterFolders {
  enum Judgement {
    case letter(RecordID, Secret)
    /// This vault's, and does not open.
    case unusable
    /// Another vault's, or nothing that an agent wrote.
    case foreign
  }

  func judge(_ file: File, by keyPair: borrowing SealedBox.KeyPair) -> Judgement {
    guard let bytes = read(file), Letter.isFor(vaultID, bytes) else { return .foreign }
    guard let (record, payload) = Letter.open(bytes, number: file.number, vaultID: vaultID, by: keyPair),
      tag(of: record) == file.tag
    else { return .unusable }
    return .letter(record, payload)
  }
}
