package import AgentWire
import OAuthTerms
import Sealing
import TokenVault

/// `token.id`
extension CredentialService {
  /// Nobody can do anything with one that ends sooner, seconds: where a refresh may bring another, it is asked for that.
  private static let idTokenSeconds = 10.0

  package func idToken(_ request: TokenID) async throws(AgentFailure) -> IDTokenAnswer {
    // The bounds of its time are those of every token's.
    var refresh = TokenGet(account: request.account, timeoutMilliseconds: request.timeoutMilliseconds)
    let deadline = time.now().bootSeconds + (try TokenBounds(refresh).timeoutSeconds)
    try await open()
    let name = try select(AccountSelection.Wish(account: request.account), rejected: nil).name
    if let failure = await waitForTime(name, until: deadline) { throw failure }
    let identity = try identity(of: name)
    if identity.remaining(at: now(name)) < Self.idTokenSeconds, identity.isLast != true,
      accounts[name]?.machine.isRenewable == true
    {
      refresh.account = name
      refresh.force = true
      _ = try await token(refresh)
    }
    // Another account may be the default by now.
    guard try select(AccountSelection.Wish(account: request.account), rejected: nil).name == name else {
      throw .changedJustNow(name)
    }
    return try answer(self.identity(of: name), name)
  }

  private func identity(of name: String) throws(AgentFailure) -> IdentityRecord {
    if let fault = accounts[name]?.machine.lenderFault { throw fault }
    guard let identity = accounts[name]?.machine.record?.grant?.identity else { throw noIDToken(name) }
    return identity
  }

  private func answer(_ identity: IdentityRecord, _ name: String) throws(AgentFailure) -> IDTokenAnswer {
    let remaining = identity.remaining(at: now(name))
    guard remaining > 0 else {
      throw AgentFailure(
        .loginRequired, "\(name): its ID token has ended, and no refresh brings another",
        hint: .run("oauthctl login \(name)"))
    }
    return IDTokenAnswer(
      idToken: identity.idToken.secret.reveal(), account: name, accountID: accounts[name]?.id.description ?? "",
      expiresAt: Int(identity.expires), expiresInSeconds: Int(remaining), issuer: identity.issuer,
      subject: identity.subject, who: identity.who)
  }

  private func noIDToken(_ name: String) -> AgentFailure {
    guard let machine = accounts[name]?.machine, let definition = machine.definition, machine.record?.grant != nil
    else {
      return AgentFailure(
        .loginRequired, "\(name): login needed: not logged in", hint: .run("oauthctl login \(name)"))
    }
    guard !definition.grant.isUnattended else {
      return AgentFailure(.serverRefused, "\(name): nobody logs in by the grant \(definition.grant.rawValue)")
    }
    guard definition.scope.contains("openid") else {
      return AgentFailure(
        .loginRequired, "\(name): there is no ID token, since its scope lacks openid",
        hint: .run("oauthctl login \(name) --add-scope openid"))
    }
    return AgentFailure(
      .serverRefused, "\(name): its server gave no ID token that could be believed",
      hint: .run("oauthctl login \(name)   # it tells why, where the token could be read"))
  }
}
