package import AgentWire

/// What the agent asks of the vault beside records. Every method throws what the caller is answered.
package protocol VaultControl: Sendable {
  func status() async -> VaultStatusAnswer
  /// Makes the vault and gives its recovery code; nil: there was one already. `anew`: in place of one that is gone, too.
  func create(_ request: VaultCreate) async throws(AgentFailure) -> String?
  func confirm(_ request: VaultConfirmCode) async throws(AgentFailure) -> EmptyResult

  /// Records durably that the vault is to be locked. It stays open until `lock`, for what is still to be written.
  func hold() async throws(AgentFailure)
  /// Forgets every key. When it throws, they are forgotten all the same.
  func lock() async throws(AgentFailure)
  /// Whether only a person can open it: no key file does.
  func isSealed() async -> Bool
  func unlock(_ request: VaultUnlock) async throws(AgentFailure)
  func acceptRollback(_ request: VaultAcceptRollback) async throws(AgentFailure)

  func slots() async throws(AgentFailure) -> VaultSlotsAnswer
  func setSlot(_ request: VaultSetSlot) async throws(AgentFailure) -> VaultSlotsAnswer
  func removeSlot(_ request: VaultRemoveSlot) async throws(AgentFailure) -> VaultSlotsAnswer
  func rekey(_ request: VaultRekey) async throws(AgentFailure) -> VaultSlotsAnswer

  func backup() async throws(AgentFailure) -> VaultBackupAnswer
  func check(_ request: VaultCheck) async throws(AgentFailure) -> VaultCheckAnswer
}
