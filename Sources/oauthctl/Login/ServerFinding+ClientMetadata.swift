import AgentWire
import OAuthTerms

extension ServerFinding {
  /// The client that the metadata document of config.toml stands for, which comes before one that is registered; nil where
  /// there is none for this login.
  ///
  /// - Throws: `CommandError` where there is one that cannot be used, and no other client either.
  func clientOfDocument(_ given: LoginOptions, _ found: ServerFindAnswer) throws(CommandError) -> Found? {
    guard let url = found.clientMetadataURL else { return nil }
    if let obstacle = try Self.obstacle(given, found) {
      guard !found.registers else { return nil }
      throw .configuration(
        "\(found.issuer) takes the client metadata document \(url), but \(obstacle)",
        next:
          "register a client there (redirect http://127.0.0.1/callback), then run the command again with --client-id ID"
      )
    }
    context.terminal.say("\(found.issuer): the client is \(url).")
    var options = given
    options.clientID = url
    options.clientAuthentication = ClientAuthenticationMethod.none.rawValue
    return Found(options: options, issuer: found.issuer)
  }

  /// Why a login by browser would fail with the document's redirects; the agent asks the same at each login.
  private static func obstacle(_ options: LoginOptions, _ found: ServerFindAnswer) throws(CommandError) -> String? {
    if options.device { return nil }
    if let redirect = try options.redirect(), !ClientMetadata.holds(redirectURI: redirect) {
      return "\(redirect) is none of its redirects, which are \(ClientMetadata.redirectURIs.joined(separator: " and "))"
    }
    return found.namesIssuer == true
      ? nil : "does not promise to name itself in its answers (iss, RFC 9207), which that needs"
  }
}
