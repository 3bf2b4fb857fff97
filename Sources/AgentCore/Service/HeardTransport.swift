import OAuthProtocol

/// Sends what an account wants beside its token calls: discovery, logins, revocations. Whatever is known of the server,
/// it is sent at once; and what that says of the server is heard by all accounts there.
struct HeardTransport: HTTPTransport {
  let service: CredentialService
  let account: String

  func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    let sent = service.time.now()
    let outcome = await service.transport.perform(request, route: route)
    await service.heard(outcome, from: ServerRoute(request.url, route), sent: sent, for: account)
    return outcome
  }
}

extension CredentialService {
  nonisolated func heardTransport(for account: String) -> HeardTransport {
    HeardTransport(service: self, account: account)
  }

  nonisolated func resolver(for account: String) -> ServerResolver {
    ServerResolver(transport: heardTransport(for: account))
  }

  /// A request of `name` beside its token calls has ended.
  func heard(_ outcome: HTTPOutcome, from route: ServerRoute, sent: Moment, for name: String) {
    switch outcome {
    case .answered(let answer):
      heard(answer.dateSeconds, from: route, sent: sent)
      note(.answer, of: route, for: name)
    case .notSent(let failure) where failure.isOfThisMachine: break
    case .notSent(let failure), .sentNoAnswer(let failure):
      note(.failure("\(route.host): \(failure.message)"), of: route, for: name)
    }
  }
}

extension HTTPFailure {
  /// Whether it says nothing about the server.
  var isOfThisMachine: Bool { reason == .helper || reason == .cancelled }
}
