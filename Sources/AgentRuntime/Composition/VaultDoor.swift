import AgentCore
package import AgentWire
import Sealing
package import TokenVault

/// The vault as the router sees it.
package struct VaultDoor: VaultControl {
  private let vault: Vault

  package init(_ vault: Vault) { self.vault = vault }

  package func status() async -> VaultStatusAnswer {
    let status = await vault.status()
    let slots = status.slots.map { slot in
      let name =
        switch slot.kind {
        case .keyFile: "key_file"
        case .recoveryCode: "recovery_code"
        case nil: "slot_\(slot.number)"
        }
      return slot.isIntact ? name : name + " (damaged)"
    }
    var (state, reason) = Self.words(status.state)
    if let rollback = status.rollback { reason = AgentFailure(.rolledBack(rollback)).message }
    if reason == nil { reason = status.counterProblem }
    return VaultStatusAnswer(state: state, slots: slots, path: status.path, reason: reason)
  }

  package func create() async throws(AgentFailure) -> String? {
    do { return try await vault.create().reveal() } catch {
      if case .alreadyExists = error { return nil }
      throw AgentFailure(error)
    }
  }

  package func unlock(recoveryCode: String) async throws(AgentFailure) {
    do { try await vault.unlock(recoveryCode: Secret(recoveryCode)) } catch { throw AgentFailure(error) }
  }

  private static func words(_ state: VaultStatus.State) -> (VaultStatusAnswer.State, String?) {
    switch state {
    case .absent: return (.absent, nil)
    case .open, .closed: return (.open, nil)
    case .locked: return (.locked, nil)
    case .failed(let error):
      let failure = AgentFailure(error)
      let state: VaultStatusAnswer.State =
        switch failure.kind {
        case .keyMissing: .keyMissing
        case .vaultInUse: .inUse
        case .vaultDamaged: .damaged
        case .vaultLocked: .locked
        default: .failed
        }
      return (state, failure.message)
    }
  }
}
