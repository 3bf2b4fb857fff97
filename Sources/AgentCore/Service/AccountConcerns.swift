import AgentWire
import OAuthProtocol
import OAuthTerms

/// Where an account and what its server says of itself do not fit: told before somebody runs into it.
enum AccountConcerns {
  /// `hadRefreshToken`: a login of the account has brought one. `certificateIsOver`: that of the client has ended.
  static func found(
    _ definition: AccountDefinition, _ server: ResolvedServer, keepsSecret: Bool, hadRefreshToken: Bool,
    certificateIsOver: Bool = false
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
      let shown = Escaped.serverText(listed.joined(separator: ", "), limit: 120)
      concerns.append(
        AccountConcern(
          check: "client", message: "its server does not list \(method.rawValue), but: \(shown)",
          hint: "check client_authentication in \(file)"))
    }
    if let method, method.proof == .certificate,
      case .noTLS(let endpoint)? = ClientObstacle(method.rawValue, nil, to: server.tokenEndpoint)
    {
      let obstacle = ClientObstacle.noTLS(endpoint)
      concerns.append(
        AccountConcern(
          check: "client", message: obstacle.reason(method.rawValue),
          hint: obstacle.hint(definition.name, method.rawValue), isBlocking: true))
    }
    if certificateIsOver {
      concerns.append(
        AccountConcern(
          check: "client", message: "the certificate of its client has ended, and its server may refuse it",
          hint: .run("oauthctl key import \(definition.name) < FILE   # the new certificate of the same key, in PEM"),
          isBlocking: true))
    }
    if definition.showsCertificate, server.bindsTokensToCertificates {
      concerns.append(
        AccountConcern(
          check: "client",
          message:
            "its server can bind tokens to the certificate, and a bound one works over no connection but the agent's",
          hint: "have the server give this client tokens that are not bound (RFC 8705 §3.4)"))
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
