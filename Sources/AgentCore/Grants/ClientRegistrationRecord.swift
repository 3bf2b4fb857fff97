import HTTPTerms
package import OAuthProtocol

/// A client that was registered dynamically for an account (RFC 7591), with what deletes it at its server (RFC 7592).
package struct ClientRegistrationRecord: Sendable, Equatable, Codable {
  /// As a login with the client would be bound: the issuer, the client's id, and how requests travel.
  package var binding: DefinitionBinding
  package var since: Moment
  /// `registration_client_uri` and `registration_access_token`; nil: the server gave none that can be used.
  package var clientURI: String?
  package var accessToken: StoredSecret?

  package init(binding: DefinitionBinding, since: Moment, management: ClientManagement?) {
    self.binding = binding
    self.since = since
    clientURI = management?.uri.text
    accessToken = management.map { StoredSecret($0.accessToken) }
  }

  /// Of a client that was to be deleted, and stays.
  init(of deletion: RevocationRecord) {
    (binding, since) = (deletion.binding, deletion.since)
    (clientURI, accessToken) = (deletion.clientURI, deletion.token)
  }

  /// A command that has registered a client writes the account's file within this time, or never.
  static let commandSeconds = 600.0

  func isClient(_ id: String, of issuer: String) -> Bool { binding.clientID == id && binding.issuer == issuer }

  /// Whether a login of the client `id` may be by this one: its server may have moved to another address since, or have two.
  func mayBe(_ id: String) -> Bool { binding.clientID == id }

  /// What its server is to be told; nil: there is no way to tell it.
  func deletion(at now: Moment) -> RevocationRecord? {
    guard let clientURI, let accessToken else { return nil }
    var record = RevocationRecord(
      token: accessToken, hint: RevocationRecord.registrationHint, binding: binding, since: now)
    record.clientURI = clientURI
    return record
  }

  private enum CodingKeys: String, CodingKey {
    case binding, since
    case clientURI = "client_uri"
    case accessToken = "access_token"
  }
}

extension AccountRecord {
  /// The registration of the client that `definition` names; nil: it was not registered by this agent, or is not known to be.
  func registration(of definition: AccountDefinition) -> ClientRegistrationRecord? {
    registrations?.first { $0.isClient(definition.clientID, of: definition.issuer) }
  }

  /// Once, also where it was left to another account and comes back.
  mutating func keep(_ registration: ClientRegistrationRecord) {
    if !knows(registration) { registrations = (registrations ?? []) + [registration] }
  }

  func knows(_ registration: ClientRegistrationRecord) -> Bool {
    registrations?.contains {
      ($0.clientURI, $0.accessToken, $0.binding.clientID)
        == (registration.clientURI, registration.accessToken, registration.binding.clientID)
    } == true
  }

  /// Of the clients that were registered, those that `isNeeded` stay; the others are to be deleted at their servers.
  mutating func keepRegistrations(at now: Moment, where isNeeded: (ClientRegistrationRecord) -> Bool) {
    let all = registrations ?? []
    let kept = all.filter(isNeeded)
    registrations = kept.isEmpty ? nil : kept
    owe(all.filter { !isNeeded($0) }.compactMap { $0.deletion(at: now) })
  }
}
