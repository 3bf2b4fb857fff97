/// What git asks of a credential helper.
package enum GitOperation: Sendable {
  case get, store, erase, capability

  /// Nil for what a newer git may come up with.
  package init?(_ word: String) {
    switch word {
    case "get": self = .get
    case "store": self = .store
    case "erase": self = .erase
    case "capability": self = .capability
    default: return nil
    }
  }

  /// The answer to `capability` (git 2.46): what this helper knows.
  package static let capabilities = "version 0\ncapability authtype\ncapability state\n"

  /// For `erase`: the token that the server refused, and for where; `token.reject` compares it with the current one, so
  /// that a newer token is never lost. Nil where the request names none, or none that could be ours.
  ///
  /// `store` has no such thing: git stores what this helper gave, and the agent has it.
  package static func rejected(_ request: GitCredentialRequest) -> (url: String, token: String)? {
    guard let url = GitRemote.url(protocol: request.protocol, host: request.host) else { return nil }
    let isBearer = request.authtype?.lowercased() == "bearer"
    guard let token = isBearer ? request.credential : request.password,
      (try? AuthorizationHeader.checkToken(token)) != nil
    else { return nil }
    return (url, token)
  }
}
