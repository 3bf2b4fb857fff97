import AgentWire
import ArgumentParser
import Glibc
import OAuthTerms
import SystemFacts

extension SetupCommand {
  struct Scheme: ContextCommand {
    static let configuration = CommandConfiguration(
      commandName: "scheme", abstract: "Has the desktop bring addresses of a scheme to the login that waits for them.",
      discussion: """
        For a client whose registered redirect has a scheme of its own, such as com.example.app:/callback. Writes a desktop \
        entry, and names it in mimeapps.list. It shows what it changes, then asks.
        Example: oauthctl setup scheme com.example.app
        """)

    @Argument(help: "The scheme: a domain name in reverse.") var scheme: String
    @Flag(help: "Removes what setup has added.") var remove = false
    @Flag(name: .shortAndLong, help: "Does not ask.") var yes = false
    @Flag(name: .customLong("dry-run"), help: "Shows what would change, and changes nothing.") var dryRun = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      if let reason = PrivateUseScheme.problem(in: scheme) { throw .usage("\(scheme): \(reason)") }
      let handler = SchemeHandler(scheme: scheme)
      let (entry, list) = try files(handler, context.environment)
      try SetupCommand.checkHome(context.environment, writing: [entry.path, list.path])
      let shown = [entry, list].map(\.state)
      var text: String?
      if !remove {
        let executable = try OwnProgram.path()
        OwnProgram.warnOfOpenFolder(named: "the desktop", context.terminal)
        guard let written = handler.text(executable: executable) else {
          throw .local("where oauthctl is cannot be written into a desktop entry", status: 1)
        }
        text = written
      }
      let old = try Self.text(of: shown[1], in: list, handler)
      let new = changed(old, for: handler)
      if entry.text == text, new == old {
        context.terminal.say(remove ? "\(scheme) is not set up." : "\(scheme) is set up already.")
        return
      }
      let lines =
        Self.changes(entry, to: text ?? "", context.environment) + Self.changes(list, to: new, context.environment)
      if dryRun || yes { context.terminal.show(commands: lines) }
      if dryRun { return }
      if !yes {
        let same = "oauthctl setup scheme \(scheme)\(remove ? " --remove" : "")"
        guard
          try context.terminal.confirm("Make these changes?", about: lines, otherwise: .run("\(same) --yes"))
        else { throw .declined }
        // Somebody else's change, made while the question stood, would be undone.
        guard [entry, list].map(\.state) == shown else {
          throw .configuration(
            "\(entry.path) or \(list.path) was changed meanwhile; nothing is written", next: .run(same))
        }
      }
      // One of the two without the other is of no use.
      let hasBegun = Interrupts.beginPuttingOff()
      defer { if hasBegun { Interrupts.endPuttingOff() } }
      let target = shown[1].linkTarget
      if let text {
        let written = try entry.write(text, while: { entry.state == shown[0] })
        do throws(CommandError) { try change(list, behind: target, for: handler) } catch {
          _ = try entry.putBack(shown[0], insteadOf: written)
          throw error
        }
      } else {
        try change(list, behind: target, for: handler)
        guard entry.state == shown[0] else {
          throw .configuration("\(entry.path) was changed meanwhile, and stays", next: "run the command again")
        }
        try entry.remove()
      }
      context.terminal.say(
        remove
          ? "Done: addresses of \(scheme) no longer come here."
          : "Done: \(scheme):/… comes to the login that waits for it.")
    }

    /// The list of default applications with our entry, or without it; empty where it would say nothing then.
    private func changed(_ text: String, for handler: SchemeHandler) -> String {
      var applications = MimeApplications(text)
      if remove { applications.remove(handler) } else { applications.add(handler) }
      // A file that we have made goes as it came.
      return remove && applications.text != text && applications.saysNothing ? "" : applications.text
    }

    /// Many programs write the list: it is changed as it is now, and no change of theirs is undone.
    private func change(
      _ list: SettingsFile, behind target: String?, for handler: SchemeHandler
    ) throws(CommandError) {
      // Of several of these commands one after the other.
      let folder = open(FileBytes.folder(of: list.path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      defer { if folder >= 0 { close(folder) } }
      for attempt in 1...Self.mostAttempts {
        if folder >= 0, flock(folder, LOCK_EX | LOCK_NB) != 0, attempt < Self.mostAttempts / 2 {
          usleep(20_000)
          continue
        }
        let state = list.state
        // A link that was made or turned since it was looked at is not followed.
        guard FileBytes.isSpelled(state.linkTarget, target) else {
          throw .configuration(
            "\(list.path) was turned to another file meanwhile, which is left as it is", next: "try again")
        }
        let old = try Self.text(of: state, in: list, handler)
        let new = changed(old, for: handler)
        if new == old { return }
        if new.isEmpty, state.linkTarget == nil {
          if list.state == state { return try list.remove() }
          continue
        }
        if try list.write(new, inPlaceOf: state) { return }
      }
      throw .configuration(
        "\(list.path) is changed all the time by another program; it is left as it is", next: "try again")
    }

    /// A fiftieth of a second each, as long as others are at it.
    private static let mostAttempts = 200

    private func files(
      _ handler: SchemeHandler, _ environment: Environment
    ) throws(CommandError) -> (entry: SettingsFile, list: SettingsFile) {
      let kind = BaseFolder.configuration
      guard let entry = handler.path(in: environment),
        let configuration = kind.path(value: environment[kind.variable], home: environment.home)
      else {
        throw .configuration("HOME is not set, so there is no place for a desktop entry", next: .run("export HOME=…"))
      }
      let list = SettingsFile(path: configuration + "/mimeapps.list")
      // What cannot be put back as it was is not written over.
      try Self.checkReadable(SettingsFile(path: entry).state, at: entry)
      if let target = SettingsFile(path: entry).linkTarget {
        throw .configuration(
          "\(entry) is a link to \(target), and would be replaced; nothing is written",
          next: .run("mv \(ShellWord.quoted(entry)) \(ShellWord.quoted(entry + ".old"))"))
      }
      if let text = SettingsFile(path: entry).text, text.unicodeScalars.contains("\u{FFFD}") {
        throw .configuration(
          "\(entry) is no text, so it could not be put back; nothing is written",
          next: .run("mv \(ShellWord.quoted(entry)) \(ShellWord.quoted(entry + ".old"))"))
      }
      return (SettingsFile(path: entry), list)
    }

    /// What is in the list, which may be another one each time it is looked at; empty where there is none.
    private static func text(
      of state: SettingsFile.State, in list: SettingsFile, _ handler: SchemeHandler
    ) throws(CommandError) -> String {
      try checkReadable(state, at: list.path)
      let bytes = state.content?.bytes ?? []
      guard !bytes.contains(0x0D), let text = String(validating: bytes, as: UTF8.self) else {
        throw .configuration(
          "\(list.path) holds line ends or characters that could not be written back as they are; nothing is written",
          next: "change in that file, below [Default Applications], what belongs to \(handler.entry)")
      }
      return text
    }

    private static func checkReadable(_ state: SettingsFile.State, at path: String) throws(CommandError) {
      guard state.exists, state.content == nil else { return }
      throw .configuration(
        "\(path) cannot be read, or is no file of at most 1 MiB; nothing is written",
        next: .run("ls -lL \(ShellWord.quoted(path))"))
    }

    private static func changes(_ file: SettingsFile, to text: String, _ environment: Environment) -> [String] {
      let differences = FileLines.differences(from: file.text ?? "", to: text)
      return differences.isEmpty ? [] : ["\(file.name(in: environment)):"] + differences.map { "  " + $0 }
    }
  }
}
