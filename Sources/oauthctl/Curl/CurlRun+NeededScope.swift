import AgentWire

extension CurlRun {
  /// One line, and what to do, where an API said that the token's scope does not suffice. curl's status stays what it is.
  func tell(neededScope: [String]?, _ account: String?) {
    guard let account else { return }
    guard let neededScope else { return }
    guard !neededScope.isEmpty else {
      context.terminal.warn("\(account): the server wants a scope that this token lacks, and does not say which")
      return
    }
    let shown = PrintableText.escaped(neededScope.joined(separator: " "), limit: 200)
    do throws(CommandError) {
      var request = TokenGet(account: account)
      request.neededScope = neededScope
      _ = try context.agent.ask(request)
      context.terminal.warn("\(account): the server wants \(shown), which this login has: a right may be missing there")
    } catch .agent(let failure, _) where failure.missingScope != nil {
      context.terminal.warn(failure.message, next: failure.hint)
    } catch {
      context.terminal.warn("\(account): the server wants \(shown), which this token lacks")
    }
  }
}
