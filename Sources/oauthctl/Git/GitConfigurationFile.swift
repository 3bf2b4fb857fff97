import AgentWire
import Glibc
import SystemFacts

/// A file of git's configuration that is to be changed. git changes a copy of it, which takes the file's place by one rename, under
/// the lock that git itself takes for each change: so all of a change is there or none of it, whoever ends in its middle, and no
/// change of another program is lost.
struct GitConfigurationFile {
  /// What was there when it was looked at.
  private let state: SettingsFile.State
  private let place: [UInt8]?
  private let file: SettingsFile

  /// `path` as git reads it.
  init(_ path: String) {
    file = SettingsFile(path: path)
    place = FileBytes.place(of: path)
    state = file.state
  }

  var path: String { file.path }

  /// Whether it is the same file still, with the same bytes.
  var isAsItWas: Bool { file.state == state && FileBytes.place(of: path) == place }

  /// - Throws: `CommandError.configuration` where what is there cannot be replaced: a link that leads nowhere, or through a name
  ///   that is no UTF-8, and a file of more than 1 MiB.
  func check() throws(CommandError) {
    // Of other bytes we have only that mark, and it would be another file.
    guard !path.unicodeScalars.contains("\u{FFFD}") else {
      throw .configuration(
        "the path of git's configuration is no UTF-8: \(path); nothing is written", next: "name it by GIT_CONFIG_GLOBAL"
      )
    }
    guard state.exists, state.content == nil || isLink && state.linkTarget == nil else { return }
    throw .configuration(
      "\(path) leads to no file of at most 1 MiB that can be replaced; nothing is written",
      next: .run("ls -lL \(ShellWord.quoted(path))"))
  }

  /// What the file holds after `commands`; it stays as it is. `git` gets what is to follow `git`.
  ///
  /// - Throws: `CommandError.local` where git refuses one of them.
  func content(
    after commands: [GitSetup.Command], _ git: (_ arguments: [String]) throws(CommandError) -> Program.Output
  ) throws(CommandError) -> [UInt8] {
    // Beside it: the same that lets git write there does.
    let copy = try FileBytes.makeTemporary(beside: target, holding: state.content?.bytes ?? [])
    defer {
      unlink(copy)
      // Of a git that was ended.
      unlink(copy + Self.lockSuffix)
    }
    for command in commands {
      let done = try git(["config", "--file", copy] + command)
      guard done.status != 0 else { continue }
      let complaint = PrintableText.escaped(done.complaint.replacing(copy, with: path))
      throw .local(
        "git refused: \(GitSetup.shown(command, in: ["--file", path])) (\(complaint)); nothing is written",
        next: "mend what git says, then run the command again", status: 1)
    }
    guard let changed = FileBytes.contents(of: copy) else {
      throw .local("git made \(path) longer than 1 MiB, or its copy is gone; nothing is written", status: 1)
    }
    return changed
  }

  /// - Throws: `CommandError`, also where the file was changed since it was looked at.
  func replace(with bytes: [UInt8], sameAgain: NextStep) throws(CommandError) {
    let isReplaced = try FileBytes.replace(
      target, with: bytes, readAt: path, lockedBy: Self.lockSuffix, while: { isAsItWas })
    guard isReplaced else {
      throw .configuration("\(path) was changed meanwhile; nothing is written to it", next: sameAgain)
    }
  }

  private static let lockSuffix = ".lock"

  private var target: String { state.linkTarget ?? path }

  private var isLink: Bool { SymbolicLink(at: path) != .noLink && state.exists }
}
