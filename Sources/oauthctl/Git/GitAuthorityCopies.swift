import AgentWire
import Glibc
import SystemFacts

/// The files of ``GitAuthority``, one for an account and its server. The name says both, so a login at another server never
/// changes what git trusts for the former one.
struct GitAuthorityCopies {
  /// Beside the key of the vault: whoever may write account files alone does not write here. Nil without a home.
  let folder: String?

  init(folder: String?) { self.folder = folder }

  init(_ environment: Environment) { self.init(folder: environment.folder(.state).map { $0 + Self.suffix }) }

  private static let suffix = "/authorities"

  /// Nil without a home, and where the account has no server.
  func path(of account: AccountSummary) -> String? {
    guard let folder, !account.host.contains("/") else { return nil }
    return "\(folder)/\(account.account)@\(account.host).pem"
  }

  /// All that are there.
  var present: [String] { folder.map { folder in FileBytes.names(in: folder).map { "\(folder)/\($0)" } } ?? [] }

  /// Whether git's global configuration may name one, wherever it is: a look that costs little, before git is asked.
  static func mayBeNamed(_ environment: Environment) -> Bool {
    GitReader.files(environment).contains { file in
      // A path that is no UTF-8 cannot be looked at here.
      if file.unicodeScalars.contains("\u{FFFD}") { return true }
      guard access(file, F_OK) == 0 else { return false }
      return FileBytes.contents(of: file).map(mayBeNamed(in:)) ?? true
    }
  }

  /// Whether git's configuration has a copy's folder or leads to other files. In bytes, which cost less than a text.
  static func mayBeNamed(in configuration: [UInt8]) -> Bool {
    let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    let small = [CChar](unsafeUninitializedCapacity: configuration.count + 1) { small, count in
      for (index, byte) in configuration.enumerated() {
        small[index] = CChar(bitPattern: byte == 0 ? 1 : capitals.contains(byte) ? byte | 0x20 : byte)
      }
      small[configuration.count] = 0
      count = configuration.count + 1
    }
    return strstr(small, "oauthctl" + suffix) != nil || strstr(small, "[include") != nil
  }

  /// Those of an account, for whatever servers. Earlier versions had one for all, which named none.
  func present(of account: String) -> [String] {
    present.filter { path in
      let name = FileBytes.name(of: path)
      return name == account + ".pem" || name.hasPrefix(account + "@")
    }
  }

  /// Whether `file`, which git's configuration names, is one of them, whatever became of the account, and whatever
  /// `XDG_STATE_HOME` was when it was written.
  func contain(_ file: String) -> Bool {
    if FileBytes.folder(of: file).hasSuffix("/oauthctl" + Self.suffix) { return true }
    guard let folder else { return false }
    // Either may be behind a link.
    let real = FileBytes.realPath(of: folder)
    return real != nil && FileBytes.isSpelled(FileBytes.realPath(of: FileBytes.folder(of: file)), real)
  }

  /// URLs for which git's configuration, as ``GitConfiguration/authorityQuery`` lists it, names a copy that is not there, or
  /// that is of no account whose authority counts for that URL.
  func strays(in list: String, _ accounts: [AccountSummary], isThere: (_ path: String) -> Bool) -> [String] {
    // Of several values git takes the last.
    let named = Dictionary(GitConfiguration.authorities(in: list).map { ($0.url, $0.file) }) { $1 }
    return named.filter { url, file in
      guard contain(file), let host = GitSetup.authorityPart(of: url) else { return false }
      return !isThere(file) || !accounts.contains { path(of: $0) == file && PrivateAuthority.counts(for: host, of: $0) }
    }.keys.sorted()
  }

  static func words(strays urls: [String]) -> String {
    "the authority that git's configuration names for \(urls.joined(separator: ", ")) is gone, or another server's"
  }

  /// What names the right one, or none where no account is at that server.
  static func step(strays urls: [String], _ accounts: [AccountSummary]) -> NextStep {
    let served = Set(GitHosts(accounts).hosts.map { GitSetup.url(host: $0) })
    let gone = urls.filter { !served.contains($0) }
    if gone.isEmpty { return .run("oauthctl setup git") }
    let removal = "oauthctl setup git --remove" + gone.map { " --host \(ShellWord.quoted($0))" }.joined()
    return .run(removal + (gone.count < urls.count ? " && oauthctl setup git" : ""))
  }
}
