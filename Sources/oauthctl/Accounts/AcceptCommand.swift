import AgentWire
import ArgumentParser

extension AccountCommand {
  struct Accept: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lets a login go on after its account file was changed.",
      discussion: """
        What decides where tokens and secrets are sent is bound to the login. Look at what changed before you accept: what is shown is what is bound, and nothing else.
        Example: oauthctl account accept work
        """)
    @Argument(help: "Account name.", completion: .accountName) var name: String
    @Flag(name: .shortAndLong, help: "Does not ask.") var yes = false
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run() throws { try run(.live()) }

    func run(_ bench: Workbench) throws(CommandError) {
      try AccountName.check(name)
      let preview = try bench.agent.ask(AccountAccept(account: name, dryRun: true), about: name)
      if !json { bench.terminal.show(preview) }
      if preview.differences.isEmpty {
        if json { bench.terminal.data(JSONText.pretty(preview)) }
        bench.terminal.say("\(name): nothing to accept, the file says what the login was made with.")
        return
      }
      if !yes {
        guard
          try bench.terminal.confirm(
            "Send tokens and secrets of \(name) as shown?", otherwise: "oauthctl account accept \(name) --yes")
        else { throw .local("\(name): not accepted", run: nil, status: 1) }
      }
      let answer = try bench.agent.ask(
        AccountAccept(account: name, bindingDigest: preview.bindingDigest), about: name)
      if json { bench.terminal.data(JSONText.pretty(answer)) }
      bench.terminal.say("Accepted.")
      GitAuthority(bench: bench).follow(name)
    }
  }
}

extension Terminal {
  /// What changes, and where everything goes then.
  func show(_ preview: AccountAcceptAnswer) {
    for difference in preview.differences { say("\(difference.key): \(difference.was) → \(difference.now)") }
    guard !preview.differences.isEmpty, let endpoints = preview.endpoints else { return }
    say("Then it uses:")
    for (key, url) in endpoints.sorted(by: { $0.key < $1.key }) { say("  \(key): \(url)") }
  }
}
