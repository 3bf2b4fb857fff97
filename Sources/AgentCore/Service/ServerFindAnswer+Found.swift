import AgentWire
import HTTPTerms
import OAuthProtocol

extension ServerFindAnswer {
  /// What a search has found, as far as a login uses it. `clientMetadataURL`: the one that config.toml names.
  init(_ found: ServerSearch.Found, clientMetadataURL: String?) {
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
}
