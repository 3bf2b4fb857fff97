import AgentWire
import Logging
import OAuthProtocol
import Sealing

/// Who has logged in.
extension LoginCoordinator {
  enum Identity {
    case known(IdentityRecord)
    /// The server does not say, or not so that it could be believed: then one line for people.
    case unknown(String?)
    /// The answer is none to this login, so nothing of it is kept.
    case another(AgentFailure)
  }

  /// Judges the ID token of the answer to `request`, which was sent at `asked`.
  func identity(
    of granted: TokenResponse, to request: HTTPRequest, _ session: LoginSession, at asked: Moment
  ) -> Identity {
    guard let sent = granted.idToken else { return .unknown(nil) }
    let definition = session.definition
    do throws(IDTokenProblem) {
      let token = try IDToken(sent)
      try IDTokenExpectation(
        issuer: session.binding.issuer, isIssuerConfirmed: session.server.discovery != nil,
        clientID: session.binding.clientID, nonce: session.browser?.nonce.map { .required($0) } ?? .any,
        accessToken: granted.accessToken
      ).check(token, now: Int64(asked.serverSeconds))
      return .known(IdentityRecord(token, hiding: [RequestSecrets(of: request), granted.secrets]))
    } catch {
      let words = "\(definition.name): the ID token of \(session.binding.issuerHost) \(error)"
      logger.notice(
        "an ID token was not believed",
        metadata: ["event": "id_token_refused", "account": "\(definition.name)", "reason": "\(error.logLine)"])
      guard error.isOfAnotherLogin else { return .unknown("\(words); who has logged in is not known") }
      return .another(AgentFailure(.serverRefused, "\(words); nothing of this login is kept", hint: session.again))
    }
  }
}
