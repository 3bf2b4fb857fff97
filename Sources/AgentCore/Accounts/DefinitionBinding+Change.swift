package import AgentWire
import OAuthTerms

/// One binding compared with the one that would take its place, discovered endpoints included.
extension DefinitionBinding {
  /// Over every member that a person decides: what a login would be bound to, in one word.
  package var digest: String {
    var digest = TextDigest("oauthctl binding 1")
    for text in [issuer, clientID, clientAuthentication, tokenEndpoint] { digest.add(text) }
    for text in [authorizationEndpoint, deviceAuthorizationEndpoint, revocationEndpoint] { digest.add(text) }
    digest.add(redirectURI)
    digest.add(hosts.sorted())
    for text in [certificateAuthorityFile, certificateAuthorityDigest, proxy] { digest.add(text) }
    digest.add(tokenParameters.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] })
    digest.add(request == nil ? nil : "request")
    if let request {
      for texts in [request.scope, request.resource, request.audience] { digest.add(texts) }
      digest.add(request.username)
      digest.add(request.lent?.digested ?? [])
      digest.add(request.grantType)
    }
    digest.add(resending?.ambiguousRetry.rawValue)
    digest.add(resending?.reuseGrace)
    digest.add(pushedAuthorizationRequestEndpoint)
    digest.add(assertionAudience?.rawValue)
    digest.add(Self.word(isBound))
    return digest.hex
  }

  /// Where requests would go, by the keys of an account file.
  package var endpoints: [String: String] {
    var found = ["token_endpoint": tokenEndpoint]
    found["authorization_endpoint"] = authorizationEndpoint
    found["device_authorization_endpoint"] = deviceAuthorizationEndpoint
    found["revocation_endpoint"] = revocationEndpoint
    found["pushed_authorization_request_endpoint"] = pushedAuthorizationRequestEndpoint
    return found
  }

  /// Every member in which `next` differs.
  package func differences(to next: DefinitionBinding) -> [DefinitionDifference] {
    let compared: [(String, String?, String?)] = [
      ("issuer", issuer, next.issuer), ("client_id", clientID, next.clientID),
      ("client_authentication", clientAuthentication, next.clientAuthentication),
      ("assertion_audience", assertionAudience?.rawValue, next.assertionAudience?.rawValue),
      ("dpop", Self.word(isBound), Self.word(next.isBound)),
      ("authorization_endpoint", authorizationEndpoint, next.authorizationEndpoint),
      ("token_endpoint", tokenEndpoint, next.tokenEndpoint),
      ("device_authorization_endpoint", deviceAuthorizationEndpoint, next.deviceAuthorizationEndpoint),
      ("revocation_endpoint", revocationEndpoint, next.revocationEndpoint),
      (
        "pushed_authorization_request_endpoint", pushedAuthorizationRequestEndpoint,
        next.pushedAuthorizationRequestEndpoint
      ),
      ("redirect_uri", redirectURI, next.redirectURI),
      ("hosts", hosts.sorted().joined(separator: " "), next.hosts.sorted().joined(separator: " ")),
      ("ca_file", certificateAuthorityFile, next.certificateAuthorityFile),
      (Self.authorityContent, certificateAuthorityDigest, next.certificateAuthorityDigest),
      ("proxy", proxy, next.proxy),
      ("token_parameters", Self.line(tokenParameters), Self.line(next.tokenParameters)),
    ]
    var found = compared.compactMap { DefinitionDifference($0.0, from: $0.1, to: $0.2) }
    if let request, let next = next.request { found += request.differences(from: next) }
    if let resending, let next = next.resending { found += resending.differences(from: next) }
    return found
  }

  /// What a person has to agree to before a login takes the place of this one. An endpoint that `next` has not is sent
  /// nothing, and one that the same issuer names beyond those of before is the issuer's word, not the file's; so is how
  /// the client authenticates where the file leaves it open, unless a secret that has only signed would be sent itself.
  func loginDifferences(to next: DefinitionBinding, of definition: AccountDefinition) -> [DefinitionDifference] {
    let written = definition.writtenEndpoints
    return differences(to: next).filter { difference in
      switch difference.key {
      case "client_authentication":
        definition.clientAuthentication != nil || method?.signs == true && next.method?.sendsSecret == true
      case "authorization_endpoint", "device_authorization_endpoint", "revocation_endpoint",
        "pushed_authorization_request_endpoint":
        difference.now != DefinitionDifference.none
          && (difference.was != DefinitionDifference.none || written[difference.key] != nil)
      default: true
      }
    }
  }
}

extension AccountDefinition {
  /// Those that are not left to discovery.
  var writtenEndpoints: [String: String] {
    var found: [String: String] = [:]
    found["token_endpoint"] = tokenEndpoint
    found["authorization_endpoint"] = authorizationEndpoint
    found["device_authorization_endpoint"] = deviceAuthorizationEndpoint
    found["revocation_endpoint"] = revocationEndpoint
    found["pushed_authorization_request_endpoint"] = pushedAuthorizationRequestEndpoint
    return found
  }
}

extension GrantKind {
  /// A login that a person gave is none without a person, nor the reverse: what it asks for is bound in one of them only. And
  /// another account's token goes to one server by one grant, and to another by another.
  func differences(to next: GrantKind) -> [DefinitionDifference] {
    isUnattended == next.isUnattended && (self == next || terms.need != .otherLogin || next.terms.need != .otherLogin)
      ? [] : [DefinitionDifference(key: "grant", was: rawValue, now: next.rawValue)]
  }
}

extension DefinitionDifference {
  static let none = "(none)"

  /// Nil where both are the same, byte by byte: `é` can be written in two ways, which are equal as strings and not to a
  /// server.
  init?(_ key: String, from was: String?, to now: String?) {
    if was.map({ Array($0.utf8) }) == now.map({ Array($0.utf8) }) { return nil }
    self.init(key: key, was: was ?? Self.none, now: now ?? Self.none)
  }
}
