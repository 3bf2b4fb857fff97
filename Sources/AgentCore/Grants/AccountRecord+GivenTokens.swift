import AgentWire
import Sealing

/// Refresh tokens that a person gives, by an import or in place of what is kept. One that was sent already is used up at a
/// server that rotates them; sent once more it ends the login that was made of it.
extension AccountRecord {
  enum Acquaintance: Sendable, Equatable {
    /// It is the one that is sent next, or has been sent and not been answered.
    case kept
    /// The server has given another one for it.
    case used
  }

  /// What this account has to do with `token` of the server that `binding` names; nil: nothing, as far as is known. Another
  /// server may have given the same one.
  func acquaintance(with token: Secret, of binding: DefinitionBinding) -> Acquaintance? {
    guard let grant, grant.binding.isAtServer(of: binding) else { return nil }
    if grant.refreshToken?.secret == token || grant.otherRefreshToken?.secret == token { return .kept }
    let fingerprint = Fingerprint(of: token).description
    return [grant.givenToken, grant.refreshTokenParent].contains(fingerprint) ? .used : nil
  }

  /// The intent, where it is about `token`, too: that one may have been sent.
  func intent(about token: Secret?) -> RefreshIntent? {
    guard let token, let intent, intent.isAbout(token) else { return nil }
    return intent
  }
}

extension AgentFailure {
  /// `name` was given a refresh token that `owner` has.
  static func refreshTokenIsHere(_ name: String, of owner: String, _ acquaintance: AccountRecord.Acquaintance)
    -> AgentFailure
  {
    switch acquaintance {
    case .used where owner == name:
      AgentFailure(
        .badRequest, "\(name): that refresh token is used up: the agent has got another one for it; nothing is changed",
        hint: .run("oauthctl status"))
    case .used:
      AgentFailure(
        .badRequest,
        "\(name): that refresh token is used up: it was given to \(owner), which has got another one for it; nothing is changed",
        hint: "use \(owner), or see how its login is: oauthctl status")
    case .kept:
      AgentFailure(
        .badRequest,
        "\(name): that refresh token is the login of \(owner), and of two that use it the server ends both; "
          + "nothing is changed",
        hint: "use \(owner), or see how its login is: oauthctl status")
    }
  }
}
