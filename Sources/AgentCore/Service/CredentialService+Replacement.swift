import AgentWire
import Logging
import TokenVault

/// Another vault in the place of the one that was open: most often an older copy, which somebody has put back under the
/// running agent.
///
/// What this agent has in memory is newer, and lost with it unless it is written there. Accounts that it does not know are
/// taken from that vault, and held as at a start.
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
      // What it writes waits for the next step.
      take(found, read)
      await store.replacementIsTaken()
      return true
    } catch {
      logger.error("the vault cannot be read", metadata: ["reason": "\(AgentFailure(error).message)"])
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
    var others = Set(accounts.keys)
    let ids = Set(found.records.map(\.id))
    for (stored, record) in onePerAccount(read) {
      guard let account = accounts[record.name] else {
        begin(stored, record)
        continue
      }
      let counts = account.isSettled && account.isOlder(than: record, at: stored.commit, found)
      guard account.id == stored.id || counts else {
        others.remove(record.name)
        write(account, inPlaceOf: stored.id, afterRollback: rollback)
        continue
      }
      if account.id != stored.id { (account.id, account.version) = (stored.id, stored.version) }
      account.version = max(account.version, stored.version)
      guard counts else { continue }
      others.remove(record.name)
      event(account, .changed(.restore(record, afterRollback: rollback), 0))
    }
    for account in others.compactMap({ accounts[$0] }) {
      // A vault that was written after the account's row, and does not have it, has forgotten the account.
      let isOver = account.isSettled && found.commit > found.commits[account.id] ?? .max && !ids.contains(account.id)
      event(
        account,
        .changed(
          isOver
            ? .restore(AccountRecord(name: account.name), afterRollback: rollback)
            : .writeAnew(afterRollback: rollback), 0))
    }
    tellVault()
  }

  /// Writes `account` anew, then removes the other record of its name.
  private func write(_ account: Account, inPlaceOf other: RecordID, afterRollback rollback: UInt64?) {
    let name = account.name
    Task {
      do throws(AgentFailure) { try await self.change(name, .writeAnew(afterRollback: rollback)) } catch { return }
      self.removeOther(other, of: name)
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

  /// `record` as it may be written once more by whoever was told that the vault is another one.
  func above(_ record: VaultRecord) -> VaultRecord {
    guard let account = accounts.values.first(where: { $0.id == record.id }) else { return record }
    account.version += 1
    var record = record
    record.version = account.version
    return record
  }
}

extension CredentialService.Account {
  /// What it has is what it had when the vault was read, or has written there.
  fileprivate var isSettled: Bool { machine.unsaved == nil && machine.isIdle }

  /// Whether `record`, written by `commit`, of the vault that was found, is newer: by when its refresh token came. Commits tell
  /// nothing of that where an older vault was accepted and written to.
  fileprivate func isOlder(than record: AccountRecord, at commit: UInt64, _ found: VaultReplacement) -> Bool {
    guard let own = machine.latest?.grant else { return true }
    guard let grant = record.grant else { return machine.isRolledBack && commit > found.commits[id] ?? .max }
    return grant.newest.seconds(since: own.newest) > 0
  }
}

extension GrantRecord {
  /// When it was made, or got its refresh token.
  fileprivate var newest: Moment {
    guard let received = refreshTokenReceived, received.seconds(since: loggedIn) > 0 else { return loggedIn }
    return received
  }
}
