package import AgentWire
import OAuthProtocol

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
  /// Named by the file as it is now, and by what the login is bound to: adding a host needs a person's word, taking one
  /// out needs none.
  package let served: [String]
  /// Named by the file alone.
  package let unaccepted: [String]

  /// `bound` is what the login is bound to; without a login the next one will be bound to what the file names.
  package init(_ definition: AccountDefinition, boundTo bound: DefinitionBinding?) {
    let named = definition.origins
    let hosts = bound?.hosts ?? named
    served = named.filter(hosts.contains)
    unaccepted = named.filter { !hosts.contains($0) }
  }
}

/// Which account a request means.
package enum AccountSelection {
  /// Picks among `accounts`.
  ///
  /// Throws `account_unknown`, `account_ambiguous`, `not_permitted` (the host is not one of the account's) or
  /// `bad_request` (`url` is none).
  package static func select(
    account: String?, url: String?, among accounts: [(name: String, hosts: HostPolicy)]
  ) throws(AgentFailure) -> (name: String, matchedHost: String?) {
    var origin: String?
    if let url {
      do { origin = try WebURL(url).origin.description } catch {
        throw AgentFailure(.badRequest, "url: \(error)", hint: "give an https URL (http on loopback only)")
      }
    }
    if let account {
      guard let found = accounts.first(where: { $0.name == account }) else {
        throw unknown(account, accounts.map(\.name))
      }
      if let origin, !found.hosts.served.contains(origin) { throw notServed(origin, account, found.hosts) }
      return (found.name, origin)
    }
    let fitting = origin.map { origin in accounts.filter { $0.hosts.served.contains(origin) } } ?? accounts
    guard let first = fitting.first else {
      if let origin, let waiting = accounts.first(where: { $0.hosts.unaccepted.contains(origin) }) {
        throw notServed(origin, waiting.name, waiting.hosts)
      }
      throw AgentFailure(
        .accountUnknown, origin.map { "no account for \($0)" } ?? "no account is set up",
        hint: "set one up: oauthctl login NAME ISSUER --client-id ID")
    }
    guard fitting.count == 1 else {
      let names = fitting.map(\.name).sorted().prefix(8).joined(separator: ", ")
      throw AgentFailure(
        .accountAmbiguous, "\(fitting.count) accounts fit: \(names)",
        hint: "oauthctl get-token NAME, NAME being one of: \(names)")
    }
    return (first.name, origin)
  }

  private static func notServed(_ origin: String, _ account: String, _ hosts: HostPolicy) -> AgentFailure {
    if hosts.unaccepted.contains(origin) {
      return AgentFailure(
        .notPermitted, "\(account): its tokens may not go to \(origin) yet: the login is not bound to that host",
        hint: "oauthctl account accept \(account)")
    }
    let others = hosts.served.isEmpty ? "" : "they may go to: \(hosts.served.joined(separator: ", ")); "
    return AgentFailure(
      .notPermitted, "\(account): its tokens may not go to \(origin)",
      hint: others + "add the host to `hosts` of the account")
  }

  private static func unknown(_ name: String, _ known: [String]) -> AgentFailure {
    let shown = known.sorted().prefix(8).joined(separator: ", ")
    return AgentFailure(
      .accountUnknown, "\(Escaped.forTerminal(name, limit: 80)): no such account",
      hint: known.isEmpty ? "set one up: oauthctl login NAME ISSUER --client-id ID" : "accounts: \(shown)")
  }
}
