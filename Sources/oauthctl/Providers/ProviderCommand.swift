import AgentWire
import ArgumentParser

struct ProviderCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "provider", abstract: "Lists and shows the presets for known providers.",
    subcommands: [List.self, Show.self])

  struct List: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists the presets, those in ~/.config/oauthctl/providers.d too.",
      discussion: """
        Example: oauthctl provider list
                 oauthctl login work --provider gitlab
        """)
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      let answer = try context.agent.ask(ProviderList())
      if json {
        context.terminal.data(JSONText.pretty(answer))
        return
      }
      // Those in the program have no file.
      let hasFiles = answer.providers.contains { $0.file != nil }
      let table = Table(
        columns: [Table.Column(title: "PROVIDER", dropOrder: 0), Table.Column(title: "TITLE", dropOrder: 0)]
          + (hasFiles ? [Table.Column(title: "FILE", dropOrder: 1)] : []),
        rows: answer.providers.map { provider in
          let file = provider.file.map(context.environment.abbreviated) ?? ""
          return ([provider.provider, provider.title] + (hasFiles ? [file] : [])).map { PrintableText.escaped($0) }
        })
      context.terminal.page(table.lines(width: context.terminal.columns))
      for problem in answer.problems { context.terminal.warn(problem.sentence) }
    }
  }

  struct Show: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows a preset: what it asks, and what an account begins with.",
      discussion: """
        What it prints is a file for ~/.config/oauthctl/providers.d, where presets of your own belong.
        Example: oauthctl provider show github
        """)
    @Argument(help: "Name of the preset.", completion: .providerName) var provider: String
    @Option(
      name: .customLong("set"),
      help: ArgumentHelp("For --json, answers what the preset asks for; repeatable.", valueName: "name=value"))
    var answers: [String] = []
    @Flag(help: "Prints JSON, with the keys and values of an account's file.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      guard json || answers.isEmpty else {
        throw .usage("--set is for --json: without it the preset is shown as it is written", next: "add --json")
      }
      var values: [String: String] = [:]
      for answer in answers {
        let (name, value) = try LoginOptions.pair("--set", answer)
        values[name] = value
      }
      let preset = try context.agent.ask(ProviderShow(provider: provider, values: values))
      if json {
        context.terminal.data(JSONText.pretty(preset))
      } else {
        var lines = preset.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        context.terminal.page(lines)
      }
    }
  }
}
