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
      do { return (try request.url(), nil) } catch { throw AgentFailure(.configInvalid, "\(name): \(error)") }
    }
    let pushed = try await push(request, to: endpoint, session)
    do {
      return (
        try request.url(pushedAs: pushed.requestURI),
        pushed.expiresInSeconds < Int(LoginSession.windowSeconds)
          ? "the server keeps this address for \(pushed.expiresInSeconds) s and for one use: open it by then" : nil
      )
    } catch { throw AgentFailure(.configInvalid, "\(name): \(error)") }
  }

  /// Sent once; a login that fails here is begun again by who wants it.
  private func push(
    _ request: AuthorizationRequest, to endpoint: WebURL, _ session: LoginSession
  ) async throws(AgentFailure) -> PushedAuthorization {
    let (name, host) = (session.definition.name, session.binding.issuerHost)
    let asked = time.now()
    let (pushing, outcome): (HTTPRequest, HTTPOutcome)
    do throws(ProtocolError) {
      (pushing, outcome) = try await send(session) { (client, _) throws(ProtocolError) in
        try PushedAuthorizationRequest(endpoint: endpoint, client: client, request: request).httpRequest()
      }
    } catch { throw AgentFailure(.configInvalid, "\(name): \(error)") }
    switch outcome {
    case .notSent(let failure), .sentNoAnswer(let failure):
      throw .login(failure, "\(name): \(host): \(failure.message)")
    case .answered(let answer):
      let verdict = PushedAuthorizationVerdict(
        judging: answer, to: pushing, clientSecret: session.clientSecret, now: Int64(asked.wallSeconds))
      switch verdict {
      case .pushed(let authorization): return authorization
      case .refused(let error):
        throw Self.refused(error, "\(name): \(host): \(verdict)", session)
      case .unusable(.status(let status), _) where [400, 401, 403].contains(status):
        throw AgentFailure(
          .serverRefused, "\(name): \(host): \(verdict)", hint: Self.hintWithoutReason(session))
      case .unusable(let problem, _):
        throw AgentFailure(problem.isTransient ? .unavailable : .serverRefused, "\(name): \(host): \(verdict)")
      }
    }
  }
}
