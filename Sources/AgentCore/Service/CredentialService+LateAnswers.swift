import AgentWire
import JSONCoding
import Logging
import Sealing
import TokenVault

/// Answers that find another life of the agent than the one that asked: the vault was locked meanwhile, or the account
/// was logged in anew. They change nothing, but a rotated refresh token in them is never thrown away: while the vault is
/// locked it is sealed to a public key of the vault, and taken in when that is open again.
extension CredentialService {
  /// Calls with the refresh token of `record` that were sent before a lock, the oldest first.
  func callsUnderWay(_ id: RecordID, _ record: AccountRecord) -> [TokenCall] {
    guard let token = record.grant?.refreshToken?.secret, record.intent?.isAbout(token) == true else { return [] }
    return underWay.calls(of: id, with: token)
  }

  /// A call has ended that no machine waits for.
  func answeredLate(_ sent: RequestsUnderWay.Call, _ end: TokenCallEnd) {
    guard let late = LateToken(sent.call, end) else { return }
    logger.notice("an answer came late: its refresh token is kept", metadata: ["account": "\(sent.account)"])
    if availability.isServing {
      guard let account = accounts[sent.account], account.id == sent.id else { return }
      event(account, .changed(.lateToken(late), 0))
      return
    }
    // While it is being opened the late answers may have been read.
    if !isLocked { underWay.keep(late, of: sent.id) }
    if let lateAnswerStore = underWay.lateAnswerStore { leave(late, sent, in: lateAnswerStore) }
  }

  private func leave(_ late: LateToken, _ sent: RequestsUnderWay.Call, in store: any LateAnswerStore) {
    beginWork()
    Task {
      defer { self.endWork() }
      do {
        try await store.put(Secret(try JSONWriter.bytes(of: late)), for: sent.id)
      } catch {
        logger.error(
          "a late refresh token could not be kept", metadata: ["account": "\(sent.account)", "reason": "\(error)"])
      }
    }
  }

  // MARK: Opening

  /// What came for each record while the vault was locked, the oldest first.
  nonisolated func lateAnswers() async throws(VaultError) -> [RecordID: [LateToken]] {
    try await store.lateAnswers().reduce(into: [:]) { found, answer in
      let read = answer.payload.withBytes { ShapeDecoder.read(LateToken.self, Array($0)) }
      let late = read.flatMap { $0.isInBounds ? $0 : nil }
      if let late { found[answer.record, default: []].append(late) }
    }
  }

  /// The record of `account` was saved with what its late answers gave. Into a vault that is older than this machine remembers: the
  /// newest one may be put back, and needs them.
  func removeLateAnswers(of account: Account) {
    account.hasLateAnswers = false
    guard availability.rollback == nil else { return }
    Task {
      do throws(VaultError) { try await store.removeLateAnswers(of: account.id) } catch {
        logger.error("a late answer could not be removed", metadata: ["reason": "\(AgentFailure(error).message)"])
      }
    }
  }
}
