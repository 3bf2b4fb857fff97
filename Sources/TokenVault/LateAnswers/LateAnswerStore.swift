package import Sealing

/// Takes what has come too late for a store that is locked by now, and cannot give it back: it holds no secret key.
/// `RecordStore.lateAnswers` gives it back once the store is open again.
package protocol LateAnswerStore: Sendable {
  /// Durable when it returns. Throws `storageFailed` where it could not be written, or too much is there already: 64
  /// late answers for a record, 4,096 in all, 512 KiB each.
  func put(_ payload: Secret, for record: RecordID) async throws(VaultError)
}

/// The vault's: files sealed to a public key that belongs to the data key.
package struct SealedLateAnswerStore: LateAnswerStore {
  let folders: LateAnswerFolders
  let publicKey: SealedBox.PublicKey

  package func put(_ payload: Secret, for record: RecordID) async throws(VaultError) {
    try await LateAnswerFolders.aloneElsewhere { () throws(VaultError) in
      _ = try folders.write(payload, for: record, to: publicKey)
    }
  }
}
