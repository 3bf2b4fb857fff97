import AgentWire
import HTTPTerms
import OAuthProtocol

extension LoginCoordinator {
  /// The URL that the browser opens, and what a person should know of it. The request itself goes to the server first where
  /// the server wants that, or the account's file names the place (RFC 9126).
  func authorizationURL(
    _ request: AuthorizationRequest, _ session: LoginSession
  ) async throws(AgentFailure) -> (url: String, notice: String?) {
    let name = session.definition.name
    guard let endpoint = session.server.pushedAuthorizationRequestEndpoint else {
      do { return (try request.url(), nil) } catch { throw AgentFailure(error, of: name) }
    }
    let pushed = try await push(request, to: endpoint, session)
    do {
      return (
        try request.url(pushedAs: pushed.requestURI),
        pushed.expiresInSeconds < Int(LoginSession.windowSeconds)
          ? "the server keeps this address for \(pushed.expiresInSeconds) s and for one use: open it by then" : nil
      )
    } catch { throw AgentFailure(error, of: name) }
  }

  /// Where the proof of the key is refused, the request is sent once more without: the thumbprint in it binds the code as
  /// well, which servers have to take (RFC 9449 §10.1). Some want their nonce in the proof and do not tell it here.
  private func push(
    _ request: AuthorizationRequest, to endpoint: WebURL, _ session: LoginSession
  ) async throws(AgentFailure) -> PushedAuthorization {
    var verdict = try await pushOnce(request, to: endpoint, session, isProven: true)
    if case .refused(let error) = verdict, error.code == OAuthError.invalidProof, session.proofKey != nil {
      verdict = try await pushOnce(request, to: endpoint, session, isProven: false)
    }
    let told = "\(session.definition.name): \(session.binding.issuerHost): \(verdict)"
    switch verdict {
    case .pushed(let authorization): return authorization
    case .refused(let error): throw Self.refused(error, told, session)
    case .unusable(.status(let status), _) where [400, 401, 403].contains(status):
      throw AgentFailure(.serverRefused, told, hint: Self.hintWithoutReason(session))
    case .unusable(let problem, _): throw AgentFailure(problem.isTransient ? .unavailable : .serverRefused, told)
    }
  }

  /// A login that gets no answer here is begun again by who wants it.
  private func pushOnce(
    _ request: AuthorizationRequest, to endpoint: WebURL, _ session: LoginSession, isProven: Bool
  ) async throws(AgentFailure) -> PushedAuthorizationVerdict {
    let (name, host) = (session.definition.name, session.binding.issuerHost)
    let asked = time.now()
    let (pushing, outcome): (HTTPRequest, HTTPOutcome)
    do throws(ProtocolError) {
      (pushing, outcome) = try await send(session, to: endpoint, isProven: isProven) {
        (client, _) throws(ProtocolError) in
        try PushedAuthorizationRequest(endpoint: endpoint, client: client, request: request).httpRequest()
      }
    } catch { throw AgentFailure(error, of: name) }
    switch outcome {
    case .notSent(let failure), .sentNoAnswer(let failure):
      throw .login(failure, "\(name): \(host): \(failure.message)", of: session.definition)
    case .answered(let answer):
      return PushedAuthorizationVerdict(
        judging: answer, to: pushing, clientSecret: session.clientSecret, now: Int64(asked.wallSeconds))
    }
  }
}
