/// The methods of protocol version 1.
package enum Method: String, CaseIterable, Sendable {
  case agentHello = "agent.hello"
  case agentStatus = "agent.status"
  case tokenGet = "token.get"
  case tokenReject = "token.reject"
  case dpopProof = "dpop.proof"
  case tokenID = "token.id"
  case loginStart = "login.start"
  case loginWait = "login.wait"
  case loginComplete = "login.complete"
  case loginConfirm = "login.confirm"
  case loginCancel = "login.cancel"
  case serverFind = "server.find"
  case clientRegister = "client.register"
  case providerList = "provider.list"
  case providerShow = "provider.show"
  case accountCheck = "account.check"
  case accountList = "account.list"
  case accountShow = "account.show"
  case accountForget = "account.forget"
  case accountAccept = "account.accept"
  case accountImport = "account.import"
  case configReload = "config.reload"
  case secretSet = "secret.set"
  case secretForget = "secret.forget"
  case keySet = "key.set"
  case logout = "logout"
  case vaultStatus = "vault.status"
  case vaultCreate = "vault.create"
  case vaultLock = "vault.lock"
  case vaultUnlock = "vault.unlock"
  case vaultSlots = "vault.slots"
  case vaultSetSlot = "vault.set_slot"
  case vaultRemoveSlot = "vault.remove_slot"
  case vaultRekey = "vault.rekey"
  case vaultConfirmCode = "vault.confirm_code"
  case vaultBackup = "vault.backup"
  case vaultCheck = "vault.check"
  case vaultAcceptRollback = "vault.accept_rollback"
  case eventsSubscribe = "events.subscribe"

  /// Whether nobody but its caller wants its end, so that it is given up when that leaves, as long as nothing was changed.
  package var isGivenUpWithItsCaller: Bool {
    [
      .loginWait, .serverFind, .clientRegister, .accountCheck, .accountAccept, .accountImport, .keySet, .providerList,
      .dpopProof,
    ].contains(self)
  }

  /// Whether it changes what is kept of an account: it waits for a request of that account which is under way.
  package var isAccountChange: Bool {
    switch self {
    case .accountForget, .accountAccept, .accountImport, .secretSet, .secretForget, .keySet, .logout: true
    case .agentHello, .agentStatus, .tokenGet, .tokenReject, .tokenID, .dpopProof, .loginStart, .loginWait,
      .loginComplete, .loginConfirm, .loginCancel, .serverFind, .clientRegister, .providerList, .providerShow,
      .accountCheck, .accountList, .accountShow, .configReload, .vaultCreate, .vaultStatus, .vaultLock, .vaultUnlock,
      .vaultSlots, .vaultSetSlot, .vaultRemoveSlot, .vaultRekey, .vaultConfirmCode, .vaultBackup, .vaultCheck,
      .vaultAcceptRollback, .eventsSubscribe:
      false
    }
  }

  /// Whether a caller may send it again when the connection ended before an answer: doing it twice leaves what doing
  /// it once leaves.
  package var isRepeatable: Bool {
    switch self {
    case .loginComplete, .clientRegister, .accountImport, .secretSet, .keySet, .vaultCreate, .vaultSetSlot, .vaultRekey:
      false
    case .agentHello, .agentStatus, .tokenGet, .tokenReject, .tokenID, .dpopProof, .loginStart, .loginWait,
      .loginConfirm, .loginCancel, .serverFind, .providerList, .providerShow, .accountCheck, .accountList,
      .accountShow, .accountForget, .accountAccept,
      .configReload, .secretForget, .logout, .vaultStatus, .vaultLock, .vaultUnlock, .vaultSlots, .vaultRemoveSlot,
      .vaultConfirmCode, .vaultBackup, .vaultCheck, .vaultAcceptRollback, .eventsSubscribe:
      true
    }
  }
}
