import AgentWire
import OAuthProtocol

extension TokenKey {
  /// Whether it may be asked for of the account `definition`, whose login was granted the scopes `granted`.
  func isAllowed(by definition: AccountDefinition, granted: [String]) -> Bool {
    func holds(_ allowed: [String], _ asked: [String]) -> Bool {
      asked.allSatisfy { asked in allowed.contains { $0.utf8.elementsEqual(asked.utf8) } }
    }
    return self == .standard
      || holds(Self.scopes(definition, granted), scope) && holds(definition.resource, resource)
        && holds(definition.audience, audience)
  }

  /// What the login was granted is in everybody's token anyway: less of it is nothing more.
  private static func scopes(_ definition: AccountDefinition, _ granted: [String]) -> [String] {
    definition.scope + definition.allowedScope + granted
  }

  /// What `request` asks for of the account `definition`, whose login was granted the scopes `granted`. Throws `bad_request`
  /// for something empty, `not_permitted` for what neither the file nor the login allows.
  init(_ request: TokenGet, of definition: AccountDefinition, granted: [String]) throws(AgentFailure) {
    // Mostly all of it is asked for.
    guard request.scope != nil || request.resource != nil || request.audience != nil else {
      self = .standard
      return
    }
    func checked(_ what: String, _ asked: [String]?, _ allowed: [String]) throws(AgentFailure) -> [String] {
      guard let asked else { return [] }
      // Without it the whole token is meant, and that is more than whoever sends an empty one expects.
      guard !asked.isEmpty, !asked.contains("") else {
        throw AgentFailure(
          .badRequest, "\(definition.name): \(what) is empty",
          hint: .advice("leave it out, or name what is to be asked for"))
      }
      guard let other = asked.first(where: { asked in !allowed.contains { $0.utf8.elementsEqual(asked.utf8) } }) else {
        return asked
      }
      let shown = Escaped.forTerminal(other, limit: 80)
      let file = definition.file.isEmpty ? "its file" : definition.file
      throw AgentFailure(
        .notPermitted, "\(definition.name): \(what) \(shown) may not be asked for",
        // A refresh widens no scope (RFC 6749 §6).
        hint: what == "scope" && !definition.grant.isUnattended
          ? .run(StepUp.command(definition.name, adding: [other]))
          : "add it to \(what == "scope" ? "allowed_scope" : what) in \(file), which is read again within a second")
    }
    let scope = try checked("scope", request.scope, Self.scopes(definition, granted))
    self.init(
      scope: [Set(definition.scope), Set(granted)].contains(Set(scope)) ? [] : scope,
      resource: try checked("resource", request.resource, definition.resource),
      audience: try checked("audience", request.audience, definition.audience))
  }
}
