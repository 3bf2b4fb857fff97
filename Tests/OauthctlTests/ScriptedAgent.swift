import AgentWire

@testable import oauthctl

/// An agent that answers by a function of the parameters, without a socket.
struct ScriptedAgent: AgentCalling {
  let answer: @Sendable (any RequestParameters) throws(CommandError) -> any Sendable

  func call<P: RequestParameters>(_ parameters: P, timeoutMilliseconds: Int) throws(CommandError) -> P.Answer {
    let result = try answer(parameters)
    guard let typed = result as? P.Answer else {
      throw .local("no answer is written for \(P.method.rawValue)", status: 1)
    }
    return typed
  }
}

/// What was printed, by stream.
final class Page: @unchecked Sendable {
  var output = ""
  var error = ""

  func terminal(columns: Int? = nil, usesColor: Bool = false, errorColumns: Int? = nil) -> Terminal {
    Terminal(columns: columns, usesColor: usesColor, errorColumns: { errorColumns }) { stream, text in
      if stream == .output { self.output += text } else { self.error += text }
    }
  }
}

extension CommandContext {
  static func scripted(
    _ page: Page, columns: Int? = nil, _ variables: [String: String] = [:],
    _ answer: @escaping @Sendable (any RequestParameters) throws(CommandError) -> any Sendable
  ) -> CommandContext {
    CommandContext(
      agent: ScriptedAgent(answer: answer), terminal: page.terminal(columns: columns),
      environment: Environment(variables))
  }
}

extension TokenAnswer {
  static func example(_ token: String = "tok", expiresAt: Int? = 1_000) -> TokenAnswer {
    TokenAnswer(
      accessToken: token, tokenType: "Bearer", expiresAt: expiresAt, expiresInSeconds: 60, scope: ["a"],
      account: "work", accountID: "00", fingerprint: "sha256:" + String(repeating: "0", count: 32))
  }
}
