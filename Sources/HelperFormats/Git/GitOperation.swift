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
  /// that a newer token is never lost. Nil where the request names none, or none that could be ours, and where git was
  /// given a second token for the first: when that is refused, too, the token is not what is wrong.
  ///
  /// `store` has no such thing: git stores what this helper gave, and the agent has it.
  package static func rejected(_ request: GitCredentialRequest) -> (url: String, token: String)? {
    guard let url = GitRemote.url(protocol: request.protocol, host: request.host, path: request.path),
      request.states.lazy.compactMap(GitState.init).last?.isLast != true
    else { return nil }
    let token: String? =
      switch request.authtype?.lowercased() {
      case "bearer": request.credential
      case "basic": request.credential.flatMap(BasicCredential.token)
      default: request.password
      }
    guard let token, (try? AuthorizationHeader.checkToken(token)) != nil else { return nil }
    return (url, token)
  }
}
