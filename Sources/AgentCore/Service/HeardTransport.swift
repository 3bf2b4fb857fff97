import OAuthProtocol

/// Sends what an account wants beside its token calls (discovery, logins, revocations), and has what the server says of
/// itself heard by all accounts there.
struct HeardTransport: HTTPTransport {
  let service: CredentialService

  func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    let sent = service.time.now()
    let outcome = await service.transport.perform(request, route: route)
    await service.heard(outcome, from: ServerRoute(request.url, route), sent: sent)
    return outcome
  }
}

extension CredentialService {
  nonisolated var heardTransport: HeardTransport { HeardTransport(service: self) }
  nonisolated var resolver: ServerResolver { ServerResolver(transport: heardTransport) }

  /// A request beside the token calls has ended.
  func heard(_ outcome: HTTPOutcome, from route: ServerRoute, sent: Moment) {
    guard case .answered(let answer) = outcome else { return }
    heard(answer.dateSeconds, from: route, sent: sent)
  }
}
