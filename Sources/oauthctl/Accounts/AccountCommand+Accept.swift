import AgentWire
import ArgumentParser

extension AccountCommand {
  struct Accept: ContextCommand {
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

    func run(_ context: CommandContext) throws(CommandError) {
      try AccountName.check(name)
      var preview = try context.agent.ask(AccountAccept(account: name, dryRun: true), about: name)
      if preview.differences.isEmpty {
        // The agent may not have read yet what was written just now.
        let read = try context.agent.ask(ConfigReload())
        preview = try context.agent.ask(AccountAccept(account: name, dryRun: true), about: name)
        // What cannot be read cannot be accepted, and is what keeps the login back.
        if preview.differences.isEmpty, let problem = read.problems.first(where: { $0.accountName == name }) {
          throw .configuration("\(name): nothing can be accepted yet: \(problem.sentence)", next: problem.nextStep)
        }
      }
      let nothing = "nothing to accept, the file names nothing else than the login is bound to."
      if preview.differences.isEmpty {
        if json { context.terminal.data(JSONText.pretty(preview)) }
        context.terminal.say("\(name): \(nothing)")
        return
      }
      if yes {
        if !json { context.terminal.say(preview.lines) }
      } else {
        try context.terminal.agree(
          "Send tokens and secrets of \(name)\(preview.destination) as shown?", about: preview.lines,
          otherwise: .run("oauthctl account accept \(name) --yes"))
      }
      let answer = try context.agent.ask(
        AccountAccept(account: name, bindingDigest: preview.bindingDigest), about: name)
      if json { context.terminal.data(JSONText.pretty(answer)) }
      // The file may have been put back, or somebody has logged in by it.
      context.terminal.say(
        answer.accepted ? "Accepted the changed file of \(name)." : "\(name): by now there is \(nothing)")
      GitAuthority(context: context).follow(name)
    }
  }
}
