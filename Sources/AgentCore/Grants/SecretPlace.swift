import AgentWire

/// The server that a client secret or a kept password was given for, which stays when the login that it was used for is
/// gone: another one gets it only when a person agrees.
package struct SecretPlace: Sendable, Equatable, Codable {
  package var issuer: String
  /// By the keys of an account file. One that is missing was left to the issuer.
  package var endpoints: [String: String]
  package var certificateAuthorityDigest: String?

  /// As the file says it when the secret is given.
  package init(_ definition: AccountDefinition) {
    issuer = definition.issuer
    endpoints = definition.writtenEndpoints
    certificateAuthorityDigest = definition.certificateAuthorityDigest
  }

  /// Where a login has sent it.
  package init(_ binding: DefinitionBinding) {
    issuer = binding.issuer
    endpoints = binding.endpoints
    certificateAuthorityDigest = binding.certificateAuthorityDigest
  }

  /// Those that get the secret.
  private static let receivers = ["token_endpoint", "device_authorization_endpoint", "revocation_endpoint"]

  /// How a login of `definition` with `next` would send it elsewhere.
  func differences(to next: DefinitionBinding, of definition: AccountDefinition) -> [DefinitionDifference] {
    var found: [DefinitionDifference] = []
    func compare(_ key: String, _ was: String?, _ now: String?) {
      if was != now { found.append(DefinitionDifference(key: key, from: was, to: now)) }
    }
    compare("issuer", issuer, next.issuer)
    for key in Self.receivers {
      guard let now = next.endpoints[key] else { continue }
      if endpoints[key] != nil || definition.writtenEndpoints[key] != nil { compare(key, endpoints[key], now) }
    }
    compare("ca_file (content)", certificateAuthorityDigest, next.certificateAuthorityDigest)
    return found
  }

  private enum CodingKeys: String, CodingKey {
    case issuer, endpoints
    case certificateAuthorityDigest = "ca_digest"
  }
}

extension AccountRecord {
  /// What a person has to agree to before a login of `definition` uses `next`: how it differs from what the login before
  /// is bound to, a logout since or not, and from where the kept secrets belong.
  func loginDifferences(to next: DefinitionBinding, of definition: AccountDefinition) -> [DefinitionDifference] {
    var found = (grant?.binding ?? formerBinding)?.loginDifferences(to: next, of: definition) ?? []
    let places = [clientSecret == nil ? nil : clientSecretPlace, password == nil ? nil : passwordPlace]
    for place in places.compactMap(\.self) {
      for difference in place.differences(to: next, of: definition)
      where !found.contains(where: { $0.key == difference.key }) {
        found.append(difference)
      }
    }
    return found
  }

  /// Kept secrets belong where `binding` says: a login has used them there, or a person has agreed.
  mutating func bindSecrets(to binding: DefinitionBinding) {
    let place = SecretPlace(binding)
    if clientSecret != nil { clientSecretPlace = place }
    if password != nil { passwordPlace = place }
  }
}
