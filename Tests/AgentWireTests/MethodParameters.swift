import AgentWire

extension Method {
  /// Calls `body` with the type of the method's parameters.
  func withParameters<Failure: Error>(
    _ body: (any RequestParameters.Type) throws(Failure) -> Void
  ) throws(Failure) {
    switch self {
    case .agentHello: try body(AgentHello.self)
    case .agentStatus: try body(AgentStatus.self)
    case .tokenGet: try body(TokenGet.self)
    case .tokenReject: try body(TokenReject.self)
    case .dpopProof: try body(DPoPProof.self)
    case .tokenID: try body(TokenID.self)
    case .loginStart: try body(LoginStart.self)
    case .loginWait: try body(LoginWait.self)
    case .loginComplete: try body(LoginComplete.self)
    case .loginConfirm: try body(LoginConfirm.self)
    case .loginCancel: try body(LoginCancel.self)
    case .serverFind: try body(ServerFind.self)
    case .clientRegister: try body(ClientRegister.self)
    case .providerList: try body(ProviderList.self)
    case .providerShow: try body(ProviderShow.self)
    case .accountCheck: try body(AccountCheck.self)
    case .accountList: try body(AccountList.self)
    case .accountShow: try body(AccountShow.self)
    case .accountForget: try body(AccountForget.self)
    case .accountAccept: try body(AccountAccept.self)
    case .accountImport: try body(AccountImport.self)
    case .configReload: try body(ConfigReload.self)
    case .secretSet: try body(SecretSet.self)
    case .secretForget: try body(SecretForget.self)
    case .keySet: try body(KeySet.self)
    case .logout: try body(Logout.self)
    case .vaultStatus: try body(VaultStatusRequest.self)
    case .vaultCreate: try body(VaultCreate.self)
    case .vaultLock: try body(VaultLock.self)
    case .vaultUnlock: try body(VaultUnlock.self)
    case .vaultAcceptRollback: try body(VaultAcceptRollback.self)
    case .eventsSubscribe: try body(EventsSubscribe.self)
    case .vaultSlots: try body(VaultSlots.self)
    case .vaultSetSlot: try body(VaultSetSlot.self)
    case .vaultRemoveSlot: try body(VaultRemoveSlot.self)
    case .vaultRekey: try body(VaultRekey.self)
    case .vaultConfirmCode: try body(VaultConfirmCode.self)
    case .vaultBackup: try body(VaultBackup.self)
    case .vaultCheck: try body(VaultCheck.self)
    }
  }
}
