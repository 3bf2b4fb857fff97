import AgentWire
import Logging
import OAuthProtocol
import SystemFacts

/// Who has logged in.
extension LoginCoordinator {
  enum Identity {
    case known(IdentityRecord)
    /// The server does not say, or not so that it could be believed: then one line for people.
    case unknown(String?)
    /// The answer is none to this login, so nothing of it is kept. Whose it is, where that is believed.
    case another(AgentFailure, IdentityRecord? = nil)
  }

  /// Judges the ID token of the answer to a request that was sent at `asked`.
  func identity(of granted: TokenResponse, _ session: LoginSession, at asked: Moment) -> Identity {
    let definition = session.definition
    guard let sent = granted.idToken else {
      return session.wishes.user.map { .another(Self.notKnown($0, session)) } ?? .unknown(nil)
    }
    do throws(IDTokenProblem) {
      let token = try IDToken(sent)
      try IDTokenExpectation(
        issuer: session.binding.issuer, isIssuerConfirmed: session.server.discovery != nil,
        clientID: session.binding.clientID, nonce: session.browser?.nonce.map { .required($0) } ?? .any,
        accessToken: granted.accessToken, maximumAgeSeconds: session.wishes.maximumAge(definition),
        hiding: granted.secrets
      ).check(token, now: Int64(asked.serverSeconds))
      let identity = IdentityRecord(token, hiding: granted.secrets)
      if let expected = session.wishes.user, !token.isOf(expected) {
        var failure = AgentFailure(
          .loginCancelled,
          "\(definition.name): the login ended as \(identity.who ?? "somebody else"), not as \(Self.shown(expected))",
          hint: session.wishes.letsChooseAccount
            ? "log out of the server in the browser, then try again"
            : "log out of the server in the browser, or add --prompt select_account, then try again")
        failure.logLine = "the login ended as somebody else"
        return .another(failure, identity)
      }
      return .known(identity)
    } catch {
      let words = "\(definition.name): the ID token of \(session.binding.issuerHost) \(error)"
      logger.notice(
        "an ID token was not believed",
        metadata: ["event": "id_token_refused", "account": "\(definition.name)", "reason": "\(error.logLine)"])
      if error.isOfAnotherLogin {
        var failure = AgentFailure(.serverRefused, "\(words); nothing of this login is kept", hint: session.again)
        failure.logLine = "the ID token \(error.logLine)"
        return .another(failure)
      }
      if let expected = session.wishes.user { return .another(Self.notKnown(expected, session)) }
      return .unknown("\(words); who has logged in is not known")
    }
  }

  /// Somebody is expected, and nobody can tell who it is.
  private static func notKnown(_ expected: String, _ session: LoginSession) -> AgentFailure {
    AgentFailure(
      .loginCancelled,
      "\(session.definition.name): \(session.binding.issuerHost) does not say who has logged in, "
        + "so nobody knows whether it is \(shown(expected))",
      hint: openIDStep(expected, session.definition) ?? "log in without --user")
  }

  /// Before a browser opens for a login that would be refused afterwards: whoever is expected is not known without the
  /// scope openid. Where the login before, `known`, told who it was all the same, the next one may, too.
  static func checkUser(
    _ wishes: LoginWishes, _ definition: AccountDefinition, known: IdentityRecord?
  ) throws(AgentFailure) {
    guard let expected = wishes.user, known == nil, let step = openIDStep(expected, definition) else { return }
    throw AgentFailure(
      .badRequest,
      "\(definition.name): without the scope openid no server says who has logged in, so nobody knows whether it is "
        + shown(expected),
      hint: step)
  }

  /// Nil: the scope is there.
  private static func openIDStep(_ expected: String, _ definition: AccountDefinition) -> NextStep? {
    guard !definition.scope.contains("openid") else { return nil }
    return .run("oauthctl login \(definition.name) --add-scope openid --user \(ShellWord.quoted(shown(expected)))")
  }

  private static func shown(_ expected: String) -> String { Escaped.forTerminal(expected, limit: 100) }
}
