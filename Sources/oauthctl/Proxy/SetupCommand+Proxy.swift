import AgentWire
import ArgumentParser
import SystemFacts

extension SetupCommand {
  struct Proxy: ContextCommand {
    static let configuration = CommandConfiguration(
      commandName: "proxy", abstract: "Makes the agent use the proxy of this shell.",
      discussion: """
        The agent outlives the shell that started it, so it ignores HTTPS_PROXY and NO_PROXY. This copies them into \
        its config.toml, once. It shows what it changes, then asks.
        Example: oauthctl setup proxy
        """)

    @Flag(help: "Removes proxy and no_proxy.") var remove = false
    @Flag(name: .shortAndLong, help: "Does not ask.") var yes = false
    @Flag(name: .customLong("dry-run"), help: "Shows what would change, and changes nothing.") var dryRun = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      guard let folder = context.environment.folder(.configuration) else {
        throw .configuration("HOME is not set, so there is no place for config.toml", next: .run("export HOME=…"))
      }
      let path = folder + "/config.toml"
      try SetupCommand.checkHome(context.environment, writing: [path])
      let agents = AgentFolders(context.environment, try? context.agent.ask(AgentStatus(limit: 1)))
      if let obstacle = agents.obstacle() { throw obstacle }
      let file = SettingsFile(path: path)
      let name = file.name(in: context.environment)
      let state = file.state
      let old = FileBytes.contents(of: path).flatMap { String(validating: $0, as: UTF8.self) }
      // What cannot be put back as it was is not written over.
      if old == nil, file.exists {
        throw .configuration(
          "\(name) is no text of at most 1 MiB; nothing is written", next: .run("ls -lL \(ShellWord.quoted(path))"))
      }
      let new = try changed(old ?? "", path, context)
      let differences = FileLines.differences(from: old ?? "", to: new)
      if differences.isEmpty {
        context.terminal.say(remove ? "\(name) names no proxy." : "\(name) says that already.")
        return
      }
      let lines = ["\(name):"] + differences.map { "  " + $0 }
      if dryRun || yes { context.terminal.show(commands: lines) }
      if dryRun { return }
      if !yes {
        let same = "oauthctl setup proxy\(remove ? " --remove" : "")"
        try context.terminal.agree(
          "Change the agent's settings like this?", about: lines, otherwise: .run("\(same) --yes"))
        // Somebody else's change, made while the question stood, would be undone.
        guard file.state == state else {
          throw .configuration("\(path) was changed meanwhile; nothing is written", next: .run(same))
        }
      }
      try write(new, over: state, file, context)
      context.terminal.say(remove ? "Done: the agent uses no proxy." : "Done: the agent uses it from now on.")
    }

    private func changed(_ old: String, _ path: String, _ context: CommandContext) throws(CommandError) -> String {
      var wanted: ProxyVariables?
      if !remove {
        guard let found = ProxyVariables(context.environment) else {
          throw .usage(
            "neither HTTPS_PROXY nor ALL_PROXY is set in this shell",
            next: .run("export HTTPS_PROXY=http://HOST:PORT   # then run this command again"))
        }
        if let problem = found.problem {
          let place = found.place.map(ShellWord.quoted) ?? "http://HOST:PORT"
          throw .configuration(
            "the proxy of this shell cannot be written into config.toml, which holds no secrets: \(problem)",
            next: .run("https_proxy=\(place) oauthctl setup proxy   # if the proxy takes that"))
        }
        for entry in found.leftOut {
          context.terminal.warn("NO_PROXY: \(entry) is neither a host nor a range of addresses; it is left out")
        }
        wanted = found
      }
      var settings = SettingsText(old)
      let exceptions = wanted.flatMap { $0.exceptions.isEmpty ? nil : TOMLText.array($0.exceptions) }
      guard settings.set("proxy", wanted.map { TOMLText.string($0.proxy) }), settings.set("no_proxy", exceptions) else {
        throw .configuration(
          "\(path) has a list over several lines, a key twice or one with a backslash, which this command does not change",
          next: "write proxy and no_proxy into \(path), then: oauthctl reload")
      }
      return settings.text
    }

    /// The agent judges what was written; what it refuses is taken back.
    private func write(
      _ new: String, over old: SettingsFile.State, _ file: SettingsFile, _ context: CommandContext
    ) throws(CommandError) {
      let path = file.path
      // Between the two nobody knows whether it can stay.
      let hasBegun = Interrupts.beginPuttingOff()
      defer { if hasBegun { Interrupts.endPuttingOff() } }
      let written = try file.write(new, behind: old.linkTarget, while: { file.state == old })
      let answer: ConfigReloadAnswer
      do throws(CommandError) { answer = try context.agent.ask(ConfigReload()) } catch {
        // Nobody has judged it.
        try takeBack(written, to: old, file, because: error.sentence ?? "the agent does not answer")
        throw error
      }
      guard let problem = answer.problems.first(where: { isAbout($0, path) }) else { return }
      try takeBack(written, to: old, file, because: problem.sentence)
      _ = try context.agent.ask(ConfigReload())
      throw .configuration("nothing was changed: \(problem.sentence)")
    }

    /// The agent may spell the folder otherwise. No other file is looked at: its file system may hang.
    private func isAbout(_ problem: ConfigurationProblem, _ path: String) -> Bool {
      FileBytes.isSpelled(FileBytes.name(of: problem.file), FileBytes.name(of: path))
        && FileBytes.isSamePlace(problem.file, path)
    }

    /// - Throws: `CommandError.configuration` where it is another file by now, which stays.
    private func takeBack(
      _ written: SettingsFile.Written?, to old: SettingsFile.State, _ file: SettingsFile, because reason: String
    ) throws(CommandError) {
      guard try !file.putBack(old, insteadOf: written) else { return }
      throw .configuration("\(file.path) was changed meanwhile, and stays: \(reason)", next: "mend \(file.path)")
    }
  }
}
