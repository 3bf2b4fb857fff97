import Sealing

/// Whether the vault is the one that this machine wrote last.
extension Vault {
  package var rolledBackFrom: UInt64? {
    lookAtCounterAgain()
    return rollback?.expected
  }

  package var lastCommit: UInt64 { session.map { nextCommit(after: $0.catalogue) - 1 } ?? 0 }

  /// The number of the commit that follows: greater than every one that this machine remembers, in a vault that was put
  /// back too, so that none is given twice and a second rollback is noticed like the first.
  func nextCommit(after catalogue: Catalogue) -> UInt64 { max(catalogue.commit, rollback?.expected ?? 0) + 1 }

  /// Takes the vault as it is for the truth, durably: refreshes may go on. Does nothing when there is no rollback. Throws
  /// `rollbackChanged` where it is not the one that somebody was asked about: `found` and `expected` are its numbers, `digest`
  /// names what the vault held.
  package func acceptRollback(
    found: Int? = nil, expected: Int? = nil, digest: String? = nil
  ) async throws(VaultError) {
    guard let session = try openedSession(), let accepted = rollback else { return }
    let (isFound, isExpected) = (Int(clamping: accepted.found), Int(clamping: accepted.expected))
    guard found ?? isFound == isFound, expected ?? isExpected == isExpected else { throw .rollbackChanged(accepted) }
    if let digest, try digest != contentDigest(session) { throw .rollbackChanged(accepted) }
    var catalogue = session.catalogue
    catalogue.commit = nextCommit(after: catalogue)
    // First, unlike any other commit: nothing is accepted that the counter would not remember, and a kill in between
    // leaves a vault that has to be accepted still.
    try session.counter.write(catalogue.commit)
    rollback = nil
    do throws(VaultError) { try commit(.none, catalogue) } catch {
      rollback = accepted
      throw error
    }
  }

  /// Another one after every commit, and in every other vault.
  func contentDigest(_ session: Session) throws(VaultError) -> String {
    Hex.encode(Digest.sha256(try session.database.sealedCatalogue()).prefix(16))
  }

  /// Compares the catalogue with the counter outside, which is mended where that hides nothing. Returns what has to be
  /// accepted.
  func judgeCounter(_ session: inout Session) -> Rollback? {
    let catalogue = session.catalogue
    var known: Rollback?
    if catalogue.rollbackExpected > 0 {
      known = Rollback(found: catalogue.commit, expected: catalogue.rollbackExpected)
    }
    func rollback(_ expected: UInt64, _ cause: Rollback.Cause = .older) -> Rollback {
      Rollback(found: catalogue.commit, expected: max(expected, catalogue.rollbackExpected), cause: cause)
    }
    let path = location.counterFile
    let lost: Rollback.Cause
    do throws(VaultError) {
      switch try session.counter.read() {
      case .commit(let outside, _) where outside > catalogue.commit: return rollback(outside)
      // What it says cannot be judged with this vault's key; that it is another's is enough.
      case .otherKey: return rollback(catalogue.commit + 1)
      case .commit(let outside, let besideOther):
        do throws(VaultError) {
          // The vault from before a rekey must not find its own commit there.
          if besideOther {
            try session.counter.replaceOther(by: catalogue.commit)
          } else if outside < catalogue.commit {
            try session.counter.write(catalogue.commit)
          }
        } catch { session.counterFailed(counterText(error)) }
        return known
      case .missing: lost = .counterLost("\(path) is missing")
      case .foreign: lost = .counterLost("\(path) is not this vault's")
      }
    } catch {
      lost = .counterUnreadable(error.reason(path))
      if isFresh(catalogue) { session.counterFailed(counterText(error)) }
    }
    guard isFresh(catalogue) else { return rollback(catalogue.commit + 1, lost) }
    if session.counterProblem == nil {
      do throws(VaultError) {
        try session.counter.write(catalogue.commit)
        if case .counterLost(let what) = lost {
          session.counterProblem = "\(what); it has been made anew"
          session.isCounterMadeAnew = true
        }
      } catch { session.counterFailed(counterText(error)) }
    }
    return known
  }

  /// Reads or writes the counter again where that failed: nobody reads about a fault that is mended. A counter that
  /// is ahead of the vault is never written over: it tells that the vault is old.
  func lookAtCounterAgain() {
    guard var session else { return }
    if case .counterUnreadable = rollback?.cause { rollback = judgeCounter(&session) }
    if session.isCounterUnwritten {
      do throws(VaultError) {
        if case .commit(let outside, _) = try session.counter.read(), outside > session.catalogue.commit {
          session.counterWritten()
          rollback = judgeCounter(&session)
          self.session = session
          return
        }
        try session.counter.replaceOther(by: session.catalogue.commit)
        try session.counter.write(session.catalogue.commit)
        session.counterWritten()
      } catch { session.counterFailed(counterText(error)) }
    }
    self.session = session
  }

  /// Whether no commit follows the first, which is made with the vault and before the counter: nothing is in it that
  /// could be old.
  private func isFresh(_ catalogue: Catalogue) -> Bool { catalogue.commit == 1 }

  func counterText(_ error: VaultError) -> String {
    "the commit counter cannot be written, so an older vault may go unnoticed: \(error.reason(location.counterFile))"
  }
}
