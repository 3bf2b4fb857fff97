import AgentWire
import Logging
import TokenVault

/// Another vault in the place of the one that was open: most often an older copy, which somebody has put back under the
/// running agent.
///
/// Of each account the newer record counts (``AccountRecord/order``). What this agent alone has is written there, and what is
/// newer there is taken from it. Accounts that the agent does not know are taken, too, and held as at a start.
extension CredentialService {
  /// Looks whether the vault is the one that was read, and makes good what it lacks. Returns whether it was another one.
  @discardableResult
  package func lookAtVault() async -> Bool {
    guard isOpen else { return false }
    let task = availability.looking ?? Task { await self.takeReplacement() }
    availability.looking = task
    return await task.value
  }

  private func takeReplacement() async -> Bool {
    defer { availability.looking = nil }
    do throws(VaultError) {
      guard let found = try await store.replacement() else { return false }
      let read = await StoredRecords.read(found.records)
      // Forgotten since: the next opening reads all of it.
      guard isOpen else { return true }
      // What it writes waits for the next step, and what was made before is not written after that.
      availability.replacements += 1
      take(found, read)
      await store.replacementIsTaken(availability.replacements)
      return true
    } catch {
      // The vault's status tells why, and a write that fails for it.
      return false
    }
  }

  /// The same, and returns when what was made good is durable, or after `seconds`.
  @discardableResult
  package func lookAtVault(seconds: Double) async -> Bool {
    guard await lookAtVault() else { return false }
    await idle(seconds: seconds)
    return true
  }

  private func take(_ found: VaultReplacement, _ read: StoredRecords) {
    logger.warning(
      "another program changed the vault while it was open: what it lacks is written to it",
      metadata: ["event": "vault_replaced", "rolled_back": "\(found.rolledBackFrom != nil)"])
    let rollback = found.rolledBackFrom
    availability.rollback = rollback
    numbers.follow(read.accounts.map(\.record), commit: max(found.commit, rollback ?? 0))
    var others = Set(accounts.keys)
    for (stored, record) in onePerAccount(read) {
      guard let account = accounts[record.name] else {
        begin(stored, record)
        continue
      }
      let isNewer = isNewer(record, stored, than: account)
      if account.id == stored.id || isNewer { account.version = max(account.version, stored.version) }
      others.remove(record.name)
      if isNewer {
        account.id = stored.id
        restore(record, account, afterRollback: rollback)
        account.noteNews(at: stored.commit)
      } else {
        writeAnew(
          account, insteadOf: record, inPlaceOf: account.id == stored.id ? nil : stored.id,
          afterRollback: rollback)
      }
    }
    let ids = Set(found.records.map(\.id))
    for account in others.compactMap({ accounts[$0] }) {
      // A vault that was written after what was read for the account, and does not have it, has forgotten it.
      if found.commit > account.newsCommit, !ids.contains(account.id), account.machine.isWritten,
        let newest = account.machine.newest, numbers.isOfEarlierLife(newest.last)
      {
        logger.warning("that vault has forgotten an account", metadata: ["account": "\(account.name)"])
        restore(AccountRecord(name: account.name), account, afterRollback: rollback)
      } else {
        // A record of a later version stays as it is.
        if read.later.contains(account.id) { (account.id, account.version) = (RecordID(random: random), 0) }
        writeAnew(account, afterRollback: rollback)
      }
    }
    tellVault()
  }

  /// Whether `record`, as it is stored there, is newer than what this agent has. Of two with the same numbers the later commit
  /// counts: it may know of a sending, or of a refusal, that the other does not.
  private func isNewer(_ record: AccountRecord, _ stored: VaultRecord, than account: Account) -> Bool {
    guard let newest = account.machine.newest else { return true }
    return record.age > newest || record.age == newest && stored.commit > account.lastCommit
  }

  private func restore(_ record: AccountRecord, _ account: Account, afterRollback rollback: UInt64?) {
    account.overtaken = account.version
    event(account, .replaced(record, afterRollback: rollback))
  }

  /// Writes `account` into that vault, then removes the `other` record of its name there.
  private func writeAnew(
    _ account: Account, insteadOf older: AccountRecord? = nil, inPlaceOf other: RecordID? = nil,
    afterRollback rollback: UInt64?
  ) {
    event(account, .replaced(nil, afterRollback: rollback))
    guard let other else {
      event(account, .changed(.writeAnew(insteadOf: older), 0))
      return
    }
    let name = account.name
    Task {
      do throws(AgentFailure) { try await self.change(name, .writeAnew(insteadOf: older)) } catch { return }
      // A third vault may have come meanwhile, in which that one counts.
      if self.accounts[name]?.id != other { self.removeOther(other, of: name) }
    }
  }

  /// Takes in an account that has no file.
  private func begin(_ stored: VaultRecord, _ record: AccountRecord) {
    adopt(stored, record, [:])
    guard let account = accounts[record.name] else { return }
    if isClosed { event(account, .closed(nil)) }
    publish(record.name)
    reschedule(account)
    tell(record.name)
  }

  /// `record` of the account `name` as it may be written once more by whoever was told that the vault is another one; nil: that one
  /// has a newer record.
  func above(_ record: VaultRecord, of name: String) -> VaultRecord? {
    guard let account = accounts[name] else { return record }
    guard record.version > account.overtaken else { return nil }
    account.version += 1
    var next = stored(account, record.payload)
    next.awaitsAnswer = record.awaitsAnswer
    return next
  }
}
