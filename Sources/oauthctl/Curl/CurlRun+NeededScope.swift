import AgentWire
import HelperFormats

extension CurlRun {
  /// One line, and what to do, where an API said that the scope of `token` does not suffice. curl's status stays what it is.
  func tell(neededScope: [String]?, _ token: HelperToken) {
    guard let neededScope else { return }
    let account = token.account
    guard !neededScope.isEmpty else {
      context.terminal.warn("\(account): the server wants a scope that this token lacks, and does not say which")
      return
    }
    guard !RepeatedToken.appears(token.accessToken, in: neededScope) else {
      return context.terminal.warn(
        "\(account): the server wants a scope that this token lacks, and repeats the token as one")
    }
    // Where no selection was asked for, the token's scope may be unknown here: the agent knows what the login has.
    let lacking = neededScope.filter { !token.scope.contains($0) }
    let shown = PrintableText.escaped((lacking.isEmpty ? neededScope : lacking).joined(separator: " "), limit: 200)
    let rights = "\(account): the server wants \(shown), which this login has: a right may be missing there"
    guard !lacking.isEmpty else { return context.terminal.warn(rights) }
    do throws(CommandError) {
      var request = TokenGet(account: account)
      request.neededScope = lacking
      _ = try context.agent.ask(request)
      guard !invocation.own.selection.scope.isEmpty else { return context.terminal.warn(rights) }
      let asked = invocation.own.selection.scopes
      let leftOut = lacking.filter { !asked.contains($0) }
      // What was asked for and not granted was told when the token came.
      guard !leftOut.isEmpty else { return }
      var own = invocation.own
      own.selection.scope = asked + leftOut
      context.terminal.warn(
        "\(account): the server wants \(shown), which this login has and --scope leaves out",
        next: .run("oauthctl curl \(own.words)\(account) …"))
    } catch .agent(let failure, _) where failure.missingScope != nil {
      context.terminal.warn(failure.message, next: failure.hint)
    } catch {
      // The agent may have refused it for what is in it: a piece of a token that came after this one, in other writing.
      context.terminal.warn("\(account): the server wants a scope that this token lacks")
    }
  }
}
