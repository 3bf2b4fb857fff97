import AgentWire
import Glibc
import SystemFacts

/// Whom git trusts for an account's server: a copy of the account's `ca_file` as the agent has compared it. git opens the
/// file that its configuration names whenever it likes, and asks nobody whether it is still the one that was agreed to.
struct GitAuthority {
  /// What the copy is to hold, read and compared just now.
  struct Copy {
    let path: String
    let bytes: [UInt8]

    func write() throws(CommandError) {
      guard FileBytes.contents(of: path) != bytes else { return }
      try FileBytes.makeFolder(FileBytes.folder(of: path))
      try FileBytes.replace(path, with: bytes)
    }
  }

  static let overrideStep = NextStep.run("unset GIT_SSL_CAINFO   # and wherever this shell has it from")

  /// The file that git trusts whatever its configuration says of a server; nil: it asks its configuration.
  static func override(_ environment: Environment) -> String? { environment["GIT_SSL_CAINFO"] }

  static func words(override file: String, of urls: [String]) -> String {
    "GIT_SSL_CAINFO is set here (\(file)): git trusts that file alone, and not the authority of "
      + urls.joined(separator: ", ")
  }

  let context: CommandContext

  /// Where it stands, beside the key of the vault: whoever may write account files alone does not write here. Nil without
  /// a home.
  func path(of account: String) -> String? { folder.map { "\($0)/\(account).pem" } }

  /// Of all copies, and of nothing else.
  var folder: String? { context.environment.folder(.state).map { $0 + "/authorities" } }

  /// Removes the copies that git's configuration named in `before`, and in `after` does not.
  func remove(namedIn before: String, butNotIn after: String) {
    guard let folder else { return }
    for path in FileBytes.names(in: folder).map({ "\(folder)/\($0)" })
    where before.range(ofText: path) != nil && after.range(ofText: path) == nil {
      unlink(path)
    }
  }

  /// - Throws: `definition_changed` when the file does not hold what the login is bound to.
  func copy(of account: String) throws(CommandError) -> Copy {
    let details = try context.agent.ask(AccountShow(account: account, withAuthority: true), about: account)
    guard let text = details.authority, let path = path(of: account) else {
      throw .configuration(
        "\(account): git does not learn its ca_file, because no login is bound to that file",
        next: .run("oauthctl login \(account) && oauthctl setup git"))
    }
    return Copy(path: path, bytes: Array(text.utf8))
  }

  /// After somebody agreed to another authority: where git trusts the former one, it trusts this one from now on.
  func follow(_ account: String) {
    guard let path = path(of: account), access(path, F_OK) == 0 else { return }
    do throws(CommandError) { try copy(of: account).write() } catch {
      context.terminal.warn(
        "git still trusts the previous authority: \(error.sentence ?? "")", next: .run("oauthctl setup git"))
    }
  }
}
