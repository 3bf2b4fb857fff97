/// Token exchange (RFC 8693 §2): an access token of this server for another one, for whoever it stands for.
extension DevAuthorizationServer {
  private static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"

  mutating func exchangeToken(_ form: Parameters, _ client: DevClient, at now: Double) throws(Refusal) -> DevResponse {
    guard let subject = form["subject_token"], let type = form["subject_token_type"] else {
      throw Refusal("invalid_request", "subject_token and subject_token_type are required")
    }
    guard type == Self.accessTokenType, form["requested_token_type"] ?? type == type else {
      throw Refusal("invalid_request", "only access tokens are exchanged, and only for access tokens")
    }
    guard (form["actor_token"] == nil) == (form["actor_token_type"] == nil) else {
      throw Refusal("invalid_request", "actor_token and actor_token_type belong together")
    }
    for token in [subject] + (form["actor_token"].map { [$0] } ?? []) where store.access(token, at: now) == nil {
      throw Refusal("invalid_request", "unknown or dead token")
    }
    guard let lent = store.access(subject, at: now) else { throw Refusal("invalid_request", "unknown or dead token") }
    let scope = form["scope"] == nil ? lent.token.scope : try self.scope(form)
    guard scope.allSatisfy(lent.token.scope.contains) else {
      throw Refusal("invalid_scope", "an exchange cannot widen the scope")
    }
    let grant = Grant(clientID: client.id, subject: lent.grant.subject, scope: scope, resource: try resource(form))
    return issue(
      store.addGrant(grant), scope: scope, givesRefreshToken: false,
      [("issued_token_type", .string(Self.accessTokenType))], at: now)
  }
}
