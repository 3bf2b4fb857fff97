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
    do throws(VaultError) {
      guard let found = try await store.replacement() else { return false }
      let read = await StoredRecords.read(found.records)
      // Forgotten since: the next opening reads all of it.
      guard isOpen else { return true }
      take(found, read)
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
    for (stored, record) in onePerAccount(read) {
      guard let account = accounts[record.name] else {
        begin(stored, record)
        continue
      }
      guard account.id == stored.id || account.hasNothing else {
        removeOther(stored.id, of: record.name)
        continue
      }
      account.id = stored.id
      account.version = max(account.version, stored.version)
      guard account.hasNothing || found.newer.contains(stored.id) && account.isSettled else { continue }
      others.remove(record.name)
      event(account, .changed(.restore(record, afterRollback: rollback), 0))
    }
    for account in others.compactMap({ accounts[$0] }) {
      event(account, .changed(.writeAnew(afterRollback: rollback), 0))
    }
    tellVault()
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
  /// Nothing is kept for it, and nothing is about to be.
  fileprivate var hasNothing: Bool { machine.latest == nil && machine.isIdle }

  /// What it has is what it had when the vault was read, or has written there.
  fileprivate var isSettled: Bool { machine.unsaved == nil && machine.isIdle }
}
