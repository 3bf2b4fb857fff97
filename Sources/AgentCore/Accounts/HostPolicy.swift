import HTTPTerms

extension AccountDefinition {
  /// The canonical origins that the file names: `hosts`, or the issuer's own. Entries that do not parse are refused
  /// when the definition is read; here they match nothing.
  package var origins: [String] {
    guard hosts.isEmpty else { return hosts.compactMap { try? Origin(hostEntry: $0).description } }
    return (try? WebURL(issuer)).map { [$0.origin.description] } ?? []
  }
}

/// Where an account's tokens may go, as canonical origins.
package struct HostPolicy: Sendable, Equatable {
  /// Named by the file as it is now.
  let named: [String]
  /// Named by it, and by what the login is bound to: adding a host needs a person's word, taking one
  /// out needs none.
  package let served: [String]
  /// Named by the file alone.
  package let unaccepted: [String]

  /// `bound` is what the login is bound to; without a login the next one will be bound to what the file names.
  package init(_ definition: AccountDefinition, boundTo bound: DefinitionBinding?) {
    named = definition.origins
    let hosts = Set(bound?.hosts ?? named)
    served = named.filter(hosts.contains)
    unaccepted = named.filter { !hosts.contains($0) }
  }
}
