import AgentWire
import SystemFacts

/// What is told where nobody can listen at the redirect address.
extension LoginCoordinator {
  static func failure(_ refusal: RedirectListenerError, _ definition: AccountDefinition) -> AgentFailure {
    AgentFailure(
      refusal.isOfFile ? .configInvalid : .unavailable,
      "\(definition.name): nobody can listen at \(definition.redirectURI): \(refusal.message)",
      hint: refusal.hint)
  }

  /// Whoever has the port may be another user, and keep it. A client that was registered by a command is replaced by one;
  /// where the server registers none, a person has to ask for another port there.
  static func hint(withoutPortOf session: LoginSession) -> NextStep {
    let definition = session.definition
    guard session.server.registersClients else {
      return .advice(
        "end what uses that port, or log in with --no-browser and paste the address; or have another port registered at "
          + "\(session.binding.issuerHost) and write it into redirect_uri in \(definition.file)")
    }
    let url = ShellWord.quoted(definition.resource.first ?? definition.issuer)
    return .run(
      "oauthctl login \(definition.name) \(url) --replace   "
        + "# registers a client with another port, where the server does that; or end what uses the port, or log in "
        + "with --no-browser and paste the address")
  }
}
