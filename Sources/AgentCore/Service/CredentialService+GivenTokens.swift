import AgentWire
import Sealing

/// Refresh tokens that a person gives to an account.
extension CredentialService {
  /// Gives `token`, of the server that `binding` names, to `name` by `give`. Nil: there is none.
  ///
  /// - Throws: `bad_request` where another account has it, or is being given it; what `give` throws.
  func giving<Result: Sendable>(
    _ token: Secret?, of binding: DefinitionBinding?, to name: String,
    _ give: @Sendable () async throws(AgentFailure) -> Result
  ) async throws(AgentFailure) -> Result {
    guard let token, let binding else { return try await give() }
    for account in accounts.values where account.name != name {
      guard let acquaintance = account.machine.latest?.acquaintance(with: token, of: binding) else { continue }
      throw .refreshTokenIsHere(name, of: account.name, acquaintance)
    }
    if let other = tokensBeingGiven.first(where: {
      $0.token == token && $0.account != name && $0.binding.isAtServer(of: binding)
    }) {
      throw .refreshTokenIsHere(name, of: other.account, .kept)
    }
    tokensBeingGiven.append((name, token, binding))
    defer {
      if let index = tokensBeingGiven.firstIndex(where: { $0 == (name, token, binding) }) {
        tokensBeingGiven.remove(at: index)
      }
    }
    return try await give()
  }
}
