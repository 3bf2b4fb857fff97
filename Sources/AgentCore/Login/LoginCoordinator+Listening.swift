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
  static func hint(withoutPortOf session: LoginSession, pastes: Bool) -> NextStep {
    let definition = session.definition
    let paste =
      pastes
      ? ", or log in with --no-browser and paste the address"
      : session.server.deviceAuthorizationEndpoint == nil ? "" : ", or log in with --device"
    guard session.server.registersClients else {
      return .advice(
        "end what uses that port\(paste); or have another port registered at "
          + "\(session.binding.issuerHost) and write it into redirect_uri in \(definition.file)")
    }
    let url = ShellWord.quoted(definition.resource.first ?? definition.issuer)
    return .run(
      "oauthctl login \(definition.name) \(url) --replace   "
        + "# registers a client with another port, where the server does that; or end what uses the port\(paste)")
  }

  /// Another user may have had the port, and nothing tells that the code was given to this login.
  static func unproven(_ session: LoginSession) -> AgentFailure {
    AgentFailure(
      .loginCancelled,
      "\(session.definition.name): \(session.started.listenerProblem ?? "nobody listens here"), so another user may have "
        + "shown that address, and no ID token of \(session.binding.issuerHost) tells that its code is of this login; nothing of it is "
        + "kept",
      hint: hint(withoutPortOf: session, pastes: false))
  }
}

extension LoginSession {
  /// Whether an address may be pasted where nobody can listen. `isForOthers`: another user of this machine may have the
  /// port, so that an ID token has to tell whose code it is.
  func takesPaste(isForOthers: Bool) -> Bool { !isForOthers || definition.scope.contains("openid") }
}
