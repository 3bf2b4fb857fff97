package import AgentWire
import OAuthProtocol

/// What is needed to make an account of nothing but a URL: the server behind it.
extension CredentialService {
  /// Milliseconds for one request of a search, which has many of them while a person waits.
  private static let searchTimeoutMilliseconds = 10_000

  package func find(_ request: ServerFind) async throws(AgentFailure) -> ServerFindAnswer {
    try await open()
    let definition = try await readDefinition(request.account, request.definition)
    var search: ServerSearch
    do { search = try ServerSearch(definition.issuer) } catch {
      throw AgentFailure(.configInvalid, "\(definition.name): \(error)")
    }
    let route = Self.searchRoute(definition)
    let transport = ObservedTransport(service: self, account: nil)
    var next = search.first
    while true {
      // Whoever asked has left.
      if Task.isCancelled { throw AgentFailure(.unavailable, "\(definition.name): the search was given up") }
      switch search.judge(await transport.perform(next, route: route), now: Int64(time.now().wallSeconds)) {
      case .ask(let request): next = request
      case .found(let found):
        return ServerFindAnswer(found, clientMetadataURL: configuration.clientMetadataURL)
      case .failed(let failure):
        let text = "\(definition.name): \(failure.description)"
        if let reason = failure.unreachable { throw AgentFailure.login(reason, text, of: definition) }
        throw AgentFailure(
          failure.isTransient ? .unavailable : .configInvalid, text,
          hint: failure.isTransient
            ? nil
            : "check the address, or name the issuer, or --authorization-endpoint and --token-endpoint")
      }
    }
  }

  func readDefinition(_ name: String, _ text: String) async throws(AgentFailure) -> AccountDefinition {
    switch await configuration.definition(name: name, text: text) {
    case .success(let definition): return definition
    case .failure(let found):
      throw AgentFailure(.configInvalid, "\(name): \(found.problems.first?.reason ?? "the definition cannot be used")")
    }
  }

  static func searchRoute(_ definition: AccountDefinition) -> HTTPRoute {
    HTTPRoute(
      authority: NamedAuthority(
        file: definition.certificateAuthorityFile, digest: definition.certificateAuthorityDigest),
      proxy: definition.proxy, timeoutMilliseconds: searchTimeoutMilliseconds)
  }
}
