import AgentWire

extension LoginOptions {
  /// Adds what is wished of this login alone.
  func wish(_ request: inout LoginStart) {
    request.prompt = prompt
    request.maximumAgeSeconds = maximumAge
    request.loginHint = loginHint
    request.user = user
  }
}
