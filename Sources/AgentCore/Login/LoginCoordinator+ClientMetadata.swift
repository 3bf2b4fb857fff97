import AgentWire
import OAuthTerms

extension LoginCoordinator {
  /// A client metadata document has one redirect for all servers. So its login by browser needs a server that promises to
  /// name itself in the answer (RFC 9207): one that sends the browser on to another would else be brought that one's code,
  /// for a client that both know (RFC 9700 §4.4). Asked at each login, since a server may take its promise back.
  func checkSharedRedirect(_ session: LoginSession) throws(AgentFailure) {
    let definition = session.definition
    guard
      ClientMetadata.sharesRedirect(clientID: definition.clientID, redirectURI: definition.redirectURI),
      !session.server.namesIssuer
    else { return }
    throw AgentFailure(
      .configInvalid,
      "\(definition.name): \(session.binding.issuerHost) does not promise to name itself in its answers (iss, RFC 9207), "
        + "and \(definition.redirectURI) is the redirect of this client at every server",
      hint: "register a client there, or a redirect_uri with a path of its own in the client's document")
  }
}
