import AgentWire
import OAuthProtocol
import OAuthTerms

/// Where an account and what its server says of itself do not fit: told before somebody runs into it.
enum AccountConcerns {
  /// `hadRefreshToken`: a login of the account has brought one.
  static func found(
    _ definition: AccountDefinition, _ server: ResolvedServer, keepsSecret: Bool, hadRefreshToken: Bool
  ) -> [AccountConcern] {
    var concerns: [AccountConcern] = []
    let file = definition.file
    if definition.grant.terms.giver == .browser, let obstacle = server.authorizationObstacle {
      concerns.append(
        AccountConcern(
          check: "server", message: "its server cannot be logged in to by browser: \(obstacle)",
          hint: server.deviceAuthorizationEndpoint == nil
            ? "ask whoever runs the server to allow this client plain requests with PKCE S256"
            : .run("oauthctl login \(definition.name) --device"), isBlocking: true))
    }
    if definition.usesDPoP, server.discovery != nil, server.proofAlgorithms == nil {
      concerns.append(
        AccountConcern(
          check: "server",
          message: "its server does not say that it binds tokens to a key (DPoP), and may do so all the same",
          hint: "check dpop in \(file)"))
    }
    let method = definition.clientAuthentication.flatMap(ClientAuthenticationMethod.init)
    if let method, method.needsSecret, let listed = server.authenticationMethods, !listed.contains(method.rawValue) {
      let shown = Escaped.forTerminal(listed.joined(separator: ", "), limit: 120)
      concerns.append(
        AccountConcern(
          check: "client", message: "its server does not list \(method.rawValue), but: \(shown)",
          hint: "check client_authentication in \(file)"))
    }
    if let method, !method.needsSecret, keepsSecret {
      concerns.append(
        AccountConcern(
          check: "client", message: "a client secret is kept that \(method.rawValue) does not send",
          hint: "check client_authentication in \(file), or: oauthctl secret forget \(definition.name) client_secret"))
    }
    if let listed = server.scopes, !listed.isEmpty {
      let others = definition.scope.filter { !listed.contains($0) }
      if !others.isEmpty {
        concerns.append(
          AccountConcern(
            check: "scope",
            message: "its server does not list \(others.joined(separator: " ")), and may know it all the same",
            hint: "check scope in \(file)"))
      }
    }
    let isOffline = definition.scope.contains(AccountDefinition.offlineAccess)
    if !definition.grant.isUnattended, server.offersOfflineAccess, !isOffline, !hadRefreshToken {
      concerns.append(
        AccountConcern(
          check: "scope",
          message:
            "its server lists offline_access, without which some servers give no refresh token; it is not in scope",
          hint: "add it to scope in \(file), then: oauthctl login \(definition.name)"))
    }
    return concerns
  }
}
