import AgentWire
import CSodium
import Glibc
import HelperFormats
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

  /// After somebody agreed to another authority: where git trusts the former one of the same server, it trusts this one from
  /// now on. For a server that the login is no longer at it trusts neither.
  func follow(_ account: String) {
    let present = copies.present(of: account)
    guard !present.isEmpty else { return }
    do throws(CommandError) {
      let copy = try boundCopy(of: account)
      if remove(of: account, but: copy?.path) { warnOfStrays() }
      if let copy, present.contains(copy.path) { try copy.write() }
    } catch {
      context.terminal.warn(
        "git still trusts the previous authority: \(error.sentence ?? "")", next: .run("oauthctl setup git"))
    }
  }

  /// Whether git believes for this question whom the login of `token` believes. It goes by the address that it began with, also
  /// where a server has led it to another one, and knows one authority for a server, where it sends the tokens of all its
  /// accounts. What its configuration says is looked up each time: it may have changed by any command. A file of the user's own
  /// there is the user's word.
  ///
  /// - Returns: whether git was asked for its settings.
  /// - Throws: `CommandError.configuration` where git gets no token.
  func check(_ question: HelperQuestion, for token: HelperToken) throws(CommandError) -> Bool {
    guard let host = GitSetup.authorityPart(of: question.url) else { return false }
    let beginning: String?
    var isElsewhere = false
    do throws(GitBeginning.Unknown) {
      beginning = try GitBeginning.address()
      isElsewhere = beginning.map { !GitBeginning.isAt($0, question.url) } ?? false
    } catch {
      guard token.authority == nil else {
        throw .configuration(
          "\(token.account): nothing says at which address git began", next: .run("ls -l /proc/self/stat"))
      }
      beginning = nil
    }
    guard token.authority != nil || isElsewhere || GitAuthorityCopies.mayBeNamed(context.environment) else {
      return false
    }
    guard let trust = GitSetting.trust(at: beginning ?? question.url),
      !isElsewhere || GitSetting.trust(at: question.url) == trust
    else {
      throw .configuration(
        "\(token.account): git began at another address than \(question.url), or at one that is spelled oddly, and goes by "
          + "its settings for that", next: .run("git remote -v   # give it the server's own address, plainly spelled"))
    }
    // Other hosts of the account may have certificates of anybody's.
    let isOwn = token.authority.map { PrivateAuthority.counts(for: host, of: $0) } ?? false
    if isOwn { try GitProxy.checkIsNone(at: question.url, for: token.account, context.environment) }
    if isOwn, context.environment.raw("GIT_SSL_NO_VERIFY") != nil {
      throw .configuration(
        "\(token.account): git does not check who answers (GIT_SSL_NO_VERIFY)", next: .run("unset GIT_SSL_NO_VERIFY"))
    }
    let fault = trust.fault(digest: token.authority?.digest, isOwn: isOwn) { file in
      copies.contain(file) ? .some(FileBytes.contents(of: context.environment.expanded(file)).map(Self.digest)) : nil
    } isNamed: { folder in
      GitSetting.value(of: GitSetup.authorityFolderKey(host: host)) == folder
    }
    guard let fault else { return true }
    let setup = "oauthctl setup git --account \(token.account)"
    let isChanged = (try? context.agent.ask(AccountShow(account: token.account)))?.differences.isEmpty == false
    let again = isChanged ? "oauthctl account accept \(token.account) && \(setup)" : setup
    switch fault {
    case .otherAuthority:
      let isServers = GitSetting.trust(at: "https://\(host)")?.file == trust.file
      throw .configuration(
        "\(token.account): git trusts another authority at \(question.url) than its login is bound to",
        next: .run(isServers ? again : Self.listing("sslcainfo")))
    case .systemAuthorities:
      throw .configuration(
        "\(token.account): git trusts the system's authorities at \(question.url), and its login no other than its ca_file",
        next: .run(again))
    case .unchecked:
      throw .configuration(
        "\(token.account): git does not check who answers at \(question.url) (http.sslVerify)",
        next: .run(Self.listing("sslverify")))
    }
  }

  private static func listing(_ variable: String) -> String {
    "git config --show-origin --get-regexp '^http\\..*\(variable)$'   # says where to take it out"
  }

  /// SHA-256 in hex.
  static func digest(_ bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
    crypto_hash_sha256(&digest, bytes, UInt64(bytes.count))
    return digest.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
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
