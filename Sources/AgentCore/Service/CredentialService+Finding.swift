package import AgentWire
import HTTPTerms
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
        if let reason = failure.unreachable { throw AgentFailure.login(reason, text, of: definition.name) }
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

extension ServerFindAnswer {
  /// Most scopes that are asked for on a server's word, and most bytes of them.
  private static let scopeLimit = (count: 64, bytes: 4_096)

  /// Those that can be sent (RFC 6749 §3.3), as far as the limits go.
  private static func usable(_ scopes: [String]) -> [String] {
    var bytes = 0
    return scopes.filter { scope in
      scope.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }.prefix(scopeLimit.count).prefix { scope in
      bytes += scope.utf8.count
      return bytes <= scopeLimit.bytes
    }
  }

  fileprivate init(_ found: ServerSearch.Found, clientMetadataURL: String?) {
    let server = found.metadata
    var scope = Self.usable(found.scope)
    // Without it many servers give no refresh token; only those that list it know it (OpenID Connect Core §11).
    if !scope.isEmpty, !scope.contains(AccountDefinition.offlineAccess),
      server.scopesSupported?.contains(AccountDefinition.offlineAccess) == true
    {
      scope.append(AccountDefinition.offlineAccess)
    }
    self.init(
      issuer: server.issuer?.text ?? "", discovery: found.kind.name, resource: found.resource?.text, scope: scope,
      registers: server.registrationEndpoint != nil,
      listsPKCE: server.codeChallengeMethodsSupported?.contains("S256") == true,
      clientMetadataURL: server.clientIDMetadataDocumentSupported ? clientMetadataURL : nil,
      namesIssuer: server.authorizationResponseIssParameterSupported, requiresDPoP: found.requiresDPoP ? true : nil)
  }
}
