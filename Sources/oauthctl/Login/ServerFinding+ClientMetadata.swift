import AgentWire
import OAuthTerms

extension ServerFinding {
  /// The client that the metadata document of config.toml stands for, which comes before one that is registered; nil where
  /// there is none for this login.
  func clientOfDocument(_ given: LoginOptions, _ found: ServerFindAnswer) throws(CommandError) -> Found? {
    guard let url = found.clientMetadataURL, try documentObstacle(given, found) == nil else { return nil }
    context.terminal.say("\(found.issuer): the client is \(url).")
    var options = given
    options.clientID = url
    options.clientAuthentication = ClientAuthenticationMethod.none.rawValue
    return Found(options: options, issuer: found.issuer)
  }

  /// Why a login by browser would fail with the document that the server takes; the agent asks the same at each login.
  func documentObstacle(_ options: LoginOptions, _ found: ServerFindAnswer) throws(CommandError) -> String? {
    guard found.clientMetadataURL != nil, !options.device else { return nil }
    if let redirect = try options.redirect(), !ClientMetadata.holds(redirectURI: redirect) {
      return "\(redirect) is none of its redirects, which are \(ClientMetadata.redirectURIs.joined(separator: " and "))"
    }
    return found.namesIssuer == true
      ? nil : "that needs a server which promises to name itself in its answers (iss, RFC 9207)"
  }
}
