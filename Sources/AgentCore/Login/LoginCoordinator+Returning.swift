import AgentWire
import OAuthProtocol

extension LoginCoordinator {
  /// The login that an address belongs to, by its `state`: whoever was handed the address alone, as the handler of a scheme
  /// is, knows no login.
  func session(returningTo redirectURL: String) throws(AgentFailure) -> LoginSession {
    let found = sessions.values.first { session in
      guard let browser = session.browser else { return false }
      if case .ignore = browser.expectation.judge(pasted: redirectURL) { return false }
      return true
    }
    guard let found else {
      throw AgentFailure(
        .badRequest, "no login waits for that address", hint: "begin the login again; an address is good for one")
    }
    return found
  }
}
