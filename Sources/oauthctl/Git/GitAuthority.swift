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

  private var copies: GitAuthorityCopies { GitAuthorityCopies(context.environment) }

  /// Removes the copies that git's configuration named in `before`, and in `after` does not.
  func remove(namedIn before: String, butNotIn after: String) {
    for path in copies.present where before.range(ofText: path) != nil && after.range(ofText: path) == nil {
      unlink(path)
    }
  }

  /// Removes the copies of an account but the one at `kept`: git reaches no server that it trusted by another one.
  ///
  /// - Returns: whether there were any.
  @discardableResult
  func remove(of account: String, but kept: String? = nil) -> Bool {
    let paths = copies.present(of: account).filter { $0 != kept }
    for path in paths { unlink(path) }
    return !paths.isEmpty
  }

  /// - Throws: `definition_changed` when the file does not hold what the login is bound to.
  func copy(of account: String) throws(CommandError) -> Copy {
    guard let copy = try boundCopy(of: account) else {
      throw .configuration(
        "\(account): git does not learn its ca_file, because no login is bound to that file",
        next: .run("oauthctl login \(account) && oauthctl setup git"))
    }
    return copy
  }

  /// Nil where no login is bound to an authority.
  private func boundCopy(of account: String) throws(CommandError) -> Copy? {
    let details = try context.agent.ask(AccountShow(account: account, withAuthority: true), about: account)
    guard let text = details.authority, let path = copies.path(of: details.summary) else { return nil }
    // The authority is the login's, and the server would be the file's.
    guard !details.differences.contains(where: { $0.key == "issuer" }) else {
      throw .configuration(
        "\(account): git does not learn its ca_file, because the login is for another issuer than its file names",
        next: .run("oauthctl account accept \(account)"))
    }
    return Copy(path: path, bytes: Array(text.utf8))
  }

  /// An account whose tokens go to the server of `account`, too, and whose login does not believe what is in its `copy`; nil:
  /// there is none. git knows one authority for a server, and sends the tokens of all of them there.
  func dissenter(from copy: Copy, of account: AccountSummary, _ accounts: [AccountSummary]) -> String? {
    accounts.first { other in
      guard other.account != account.account, other.state != .new,
        PrivateAuthority.isShared(other, withServerOf: account)
      else { return false }
      return (try? boundCopy(of: other.account))?.bytes != copy.bytes
    }?.account
  }

  /// After somebody agreed to another authority: where git trusts the former one of the same server, it trusts this one from
  /// now on. For a server that the login is no longer at it trusts neither, nor where the logins of two accounts differ.
  func follow(_ account: String) {
    let present = copies.present
    guard !present.isEmpty else { return }
    do throws(CommandError) {
      let copy = try boundCopy(of: account)
      var isLess = remove(of: account, but: copy?.path)
      let accounts = try context.allAccounts()
      guard let own = accounts.first(where: { $0.account == account }) else { return }
      for other in accounts where other.account != account && PrivateAuthority.isShared(own, withServerOf: other) {
        guard let path = copies.path(of: other), present.contains(path), FileBytes.contents(of: path) != copy?.bytes
        else { continue }
        isLess = unlink(path) == 0 || isLess
      }
      if let copy, present.contains(copy.path) {
        if dissenter(from: copy, of: own, accounts) == nil { try copy.write() } else { isLess = unlink(copy.path) == 0 }
      }
      if isLess { warnOfStrays() }
    } catch {
      context.terminal.warn(
        "git still trusts the previous authority: \(error.sentence ?? "")", next: .run("oauthctl setup git"))
    }
  }

  /// Names the servers that git does not reach any more without one of the copies, but those of `told`.
  func warnOfStrays(besides told: [String] = []) {
    guard let accounts = try? context.allAccounts(),
      let listed = try? GitReader(context.environment).text(GitConfiguration.authorityQuery)
    else { return }
    let urls = copies.strays(in: listed, accounts, isThere: { access($0, F_OK) == 0 }).filter { !told.contains($0) }
    guard !urls.isEmpty else { return }
    context.terminal.warn(
      GitAuthorityCopies.words(strays: urls), next: GitAuthorityCopies.step(strays: urls, accounts))
  }
}
