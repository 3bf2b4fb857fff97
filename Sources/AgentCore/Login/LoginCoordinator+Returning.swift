import AgentWire
import OAuthProtocol

extension LoginCoordinator {
  /// The login that an address belongs to, by its `state`: whoever was handed the address alone, as the handler of a scheme
  /// is, knows no login.
  func session(returningTo redirectURL: String) throws(AgentFailure) -> LoginSession {
    let found = sessions.values.filter { session in
      guard let browser = session.browser else { return false }
      if case .ignore = browser.expectation.judge(pasted: redirectURL) { return false }
      return true
    }
    if let waiting = found.first(where: \.isPending) { return waiting }
    guard let over = found.first?.definition.name else {
      throw AgentFailure(
        .badRequest, "no login waits for that address",
        hint: "begin the login again where it was yours; any page can send such an address, which changes nothing")
    }
    throw AgentFailure(
      .badRequest, "\(over): the login of that address has ended; an address is good for one",
      hint: .run("oauthctl account show \(over)   # it tells how that account stands"))
  }
}
