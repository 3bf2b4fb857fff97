import OAuthProtocol

/// Sends an account's requests other than token calls: discovery, logins, revocations. Each is sent as soon as it has a
/// place, even where the server seems to be down. What its end says of the server is noted for all accounts there.
struct ObservedTransport: HTTPTransport {
  let service: CredentialService
  /// Nil: a search for one caller, before there is an account. Its end is noted nowhere, and it shares the
  /// places of all searches.
  let account: String?
  var priority = RequestPriority.person
  /// URLs that are reached at public addresses alone (``ResolvedServer/publicOnly``).
  var publicOnly: Set<String> = []
  /// Revocations take no places of their server's logins and refreshes, however many of them it does not answer.
  var isRevocation = false
  /// Asked when the request has its place, for which it may have waited long. It says why nothing is sent; nil: it is sent.
  var obstacle: (@Sendable () async -> String?)?

  static let changed = "what it was made of has changed before it was sent"

  func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    var request = request
    if publicOnly.contains(request.url) { request.isPublicOnly = true }
    // A lock waits for a request that holds a secret, even while that waits for its place: it may get it at any moment.
    guard request.method != .get else { return await send(request, route: route) }
    await service.beginWork()
    let outcome = await send(request, route: route)
    await service.endWork()
    return outcome
  }

  /// Metadata can be asked for at any number of servers, which shall not take the places of refreshes.
  private func lane(_ request: HTTPRequest, at server: ServerRoute) -> ServerRoute {
    if account == nil { return .searches }
    if isRevocation { return server.revocations }
    return request.method == .get ? .discoveries : server
  }

  private func send(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    let server = ServerRoute(request.url, route)
    guard let place = await service.place(lane(request, at: server), priority) else {
      return .notSent(HTTPFailure(.cancelled, "cancelled before it was sent"))
    }
    if let reason = await obstacle?() {
      await service.giveBack(place)
      return .notSent(HTTPFailure(.cancelled, reason))
    }
    let sent = service.time.now()
    let outcome = await service.checkedTransport.perform(request, route: route)
    await service.giveBack(place)
    if let account { await service.noteOutcome(outcome, of: server, sent: sent, for: account) }
    return outcome
  }
}

/// Sends what the service sends. A private authority that is not what it was shows that files have changed: they are read
/// at once, so that whoever waits reads what differs.
struct CheckedTransport: HTTPTransport {
  let service: CredentialService

  func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    let outcome = await service.transport.perform(request, route: route)
    if case .notSent(let failure) = outcome, failure.reason == .authority { await service.authorityDiffers() }
    return outcome
  }
}

extension CredentialService {
  nonisolated var checkedTransport: CheckedTransport { CheckedTransport(service: self) }

  nonisolated func observedTransport(for account: String) -> ObservedTransport {
    ObservedTransport(service: self, account: account)
  }

  nonisolated func resolver(for account: String) -> ServerResolver {
    ServerResolver(transport: observedTransport(for: account))
  }

  /// A request of `name` beside its token calls has ended.
  func noteOutcome(_ outcome: HTTPOutcome, of route: ServerRoute, sent: Moment, for name: String) {
    switch outcome {
    case .answered(let answer):
      noteClock(answer.dateSeconds, from: route, sent: sent)
      note(.answer, of: route, for: name)
    case .notSent(let failure) where failure.isOfThisMachine: break
    case .notSent(let failure), .sentNoAnswer(let failure):
      note(.failure("\(route.host): \(failure.message)"), of: route, for: name)
    }
  }
}

extension HTTPFailure {
  /// Whether it says nothing about the server, but about this machine or how it proves itself.
  var isOfThisMachine: Bool {
    [.helper, .installation, .cancelled, .authority, .privateAddress, .clientCertificate].contains(reason)
  }
}
