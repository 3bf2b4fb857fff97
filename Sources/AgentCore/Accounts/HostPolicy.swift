package import AgentWire
import OAuthProtocol

extension AccountDefinition {
  /// The canonical origins its tokens may go to: `hosts`, or the issuer's own. Entries that do not parse are refused
  /// when the definition is read; here they match nothing.
  package var origins: [String] {
    guard hosts.isEmpty else { return hosts.compactMap { try? Origin(hostEntry: $0).description } }
    return (try? WebURL(issuer)).map { [$0.origin.description] } ?? []
  }
}

/// Which account a request means.
package enum AccountSelection {
  /// Picks among `accounts` (name and the origins its tokens may go to).
  ///
  /// Throws `account_unknown`, `account_ambiguous`, `not_permitted` (the host is not one of the account's) or
  /// `bad_request` (`url` is none).
  package static func select(
    account: String?, url: String?, among accounts: [(name: String, origins: [String])]
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
      if let origin, !found.origins.contains(origin) {
        throw AgentFailure(
          .notPermitted, "\(account): its tokens may not go to \(origin)",
          hint: "they may go to: \(found.origins.joined(separator: ", ")); add the host to `hosts` of the account")
      }
      return (found.name, origin)
    }
    let fitting = origin.map { origin in accounts.filter { $0.origins.contains(origin) } } ?? accounts
    guard let first = fitting.first else {
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

  private static func unknown(_ name: String, _ known: [String]) -> AgentFailure {
    let shown = known.sorted().prefix(8).joined(separator: ", ")
    return AgentFailure(
      .accountUnknown, "\(Escaped.forTerminal(name, limit: 80)): no such account",
      hint: known.isEmpty ? "set one up: oauthctl login NAME ISSUER --client-id ID" : "accounts: \(shown)")
  }
}
