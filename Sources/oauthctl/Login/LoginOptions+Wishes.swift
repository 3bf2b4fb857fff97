import AgentWire
import OAuthTerms
import SystemFacts

extension LoginOptions {
  /// Adds what is wished of this login alone.
  func wish(_ request: inout LoginStart) {
    request.prompt = prompt
    request.maximumAgeSeconds = maximumAge
    request.loginHint = loginHint
    request.user = user
  }

  /// Before a browser opens for a login that would be refused afterwards. `command`: this very command line, without
  /// secrets. Presets and what was found out at a server have scopes of their own.
  func checkUser(_ scope: [String], _ command: String) throws(CommandError) {
    guard let user, !scope.contains("openid") else { return }
    throw .usage(
      "--user \(ShellWord.quoted(user)): without the scope openid no server says who has logged in",
      next: .run("\(command) --scope openid"))
  }

  /// What the agent would refuse, by the names that were typed.
  func validate() throws {
    for (flag, values) in [
      ("--scope", scope), ("--add-scope", addedScope), ("--resource", resource), ("--audience", audience),
    ] {
      try OptionValues.check(flag, values)
    }
    if let prompt, !LoginWish.isPrompt(prompt) {
      throw CommandError.usage("--prompt \(ShellWord.quoted(prompt)): it is \(LoginWish.promptChoice)")
    }
    if let maximumAge, !LoginWish.maximumAgeSeconds.contains(maximumAge) {
      throw CommandError.usage(
        "--max-age takes 0 to \(LoginWish.maximumAgeSeconds.upperBound) seconds, not \(maximumAge)")
    }
    for (flag, text) in [("--user", user), ("--login-hint", loginHint)] {
      guard let text, !LoginWish.isName(text) else { continue }
      throw CommandError.usage("\(flag) takes 1 to \(LoginWish.nameBytes.upperBound) bytes without control characters")
    }
    if let timeout, !(1...86_400).contains(timeout) {
      throw CommandError.usage("--timeout takes 1 to 86400 seconds, not \(timeout)")
    }
  }
}
