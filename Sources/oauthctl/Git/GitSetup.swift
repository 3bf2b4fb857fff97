import AgentWire
import Glibc
import HTTPTerms
import HelperFormats
import SystemFacts

/// What `oauthctl setup git` changes in git's global configuration: per host, an empty `helper`, which switches off the
/// ones before, and ours. Rules only; `SetupCommand` runs git.
enum GitSetup {
  /// One `git config` command, without `git config` and the file's option.
  typealias Command = [String]

  /// The configuration key of a host (gitcredentials(7)). `host` is an entry of an account's `hosts`: a host with or
  /// without a port, or a whole URL for plain http on loopback.
  static func key(host: String) -> String { "credential.\(url(host: host)).helper" }

  /// As accounts name their hosts: `https://host`, with the port where it is not the scheme's own.
  static func origin(host: String) -> String {
    let url = url(host: host)
    return (try? Origin(of: url))?.description ?? url
  }

  /// As it stands in keys.
  static func url(host: String) -> String { host.contains("://") ? withoutSlash(host) : "https://" + host }

  /// With this key git tells which repository it is about: so accounts of one host can be distinguished, and one repository
  /// that refuses a token is not taken for all of them.
  static func pathKey(host: String) -> String { "credential.\(url(host: host)).useHttpPath" }

  /// What sets or takes away the path's key; one that says anything else is the user's own. `isOurs`: it came with our helper,
  /// which is there to be taken away.
  /// `isMoved`: our helper is written anew, and it stays behind that.
  static func path(key: String, values: [String], remove: Bool, isOurs: Bool, isMoved: Bool) -> [Command] {
    if remove { return isOurs && values == ["true"] ? [["--unset-all", key]] : [] }
    if isOurs, isMoved, values == ["true"] { return [["--unset-all", key], [key, "true"]] }
    return values.isEmpty ? [[key, "true"]] : []
  }

  /// Where git reads which authority to trust for a server. For a part of its paths it would count where an address spells
  /// that so, and git tells nobody how it does.
  static func authorityKey(host: String) -> String { "http.\(serverURL(host: host)).sslCAInfo" }

  /// Where git reads in which folder of authorities to trust for a server: the system's where nothing stands there.
  static func authorityFolderKey(host: String) -> String { "http.\(serverURL(host: host)).sslCAPath" }

  private static func serverURL(host: String) -> String {
    let url = url(host: host)
    return authorityPart(of: url).map { "https://" + $0 } ?? url
  }

  /// Where earlier versions named the authority for a part of a server's paths; nil where `host` has none.
  static func authorityPathKey(host: String) -> String? {
    let url = url(host: host)
    return url == serverURL(host: host) ? nil : "http.\(url).sslCAInfo"
  }

  /// In place of a folder of authorities: there are none in it.
  static let noFolder = "/dev/null"

  /// What has git believe nobody beside a copy, and takes that back with it. Any other value is the user's own.
  static func authorityFolder(key: String, values: [String], hasCopy: Bool) -> [Command] {
    if hasCopy { return values.isEmpty ? [[key, noFolder]] : [] }
    return values == [noFolder] ? [["--unset-all", key]] : []
  }

  /// What makes `copy`, the path of a ``GitAuthority``, the one value of `key`; nil: none. `values` is empty, or holds such
  /// paths alone.
  static func authority(key: String, values: [String], copy: String?) -> [Command] {
    guard values != [copy].compactMap(\.self) else { return [] }
    guard let copy else { return [["--unset-all", key]] }
    return [(values.isEmpty ? [] : ["--replace-all"]) + [key, copy]]
  }

  /// Host and port of an `https` URL that stands in a key.
  static func authorityPart(of url: String) -> String? {
    guard let scheme = url.range(ofText: "https://"), scheme.lowerBound == url.startIndex else { return nil }
    return String(url[scheme.upperBound...].prefix { $0 != "/" })
  }

  /// For a host with a port: the key without it, which libgit2's users in Rust (cargo) look for. Nil where there is none.
  static func portlessKey(host: String) -> String? { portlessURL(host: host).map { key(host: $0) } }

  static func portlessURL(host: String) -> String? {
    guard let authority = authorityPart(of: url(host: host)), !authority.hasPrefix("["),
      let colon = authority.firstIndex(of: ":")
    else { return nil }
    return "https://" + authority[..<colon]
  }

  /// git replaces the file that it changes: a device, or a symbolic link to one, would be gone.
  ///
  /// - Throws: `CommandError.configuration` where git's global configuration is no regular file, or has a name by which git looks for
  ///   another one in each folder: in a worktree it starts from the top of that.
  static func checkFile(_ environment: Environment) throws(CommandError) {
    for file in GitReader.files(environment) {
      guard !file.isEmpty else {
        throw .configuration(
          "GIT_CONFIG_GLOBAL is empty, so git has no global configuration; nothing is written",
          next: .run("unset GIT_CONFIG_GLOBAL"))
      }
      guard PathWalk.isAbsolute(file) else {
        throw .configuration(
          "git's global configuration is named by a path that is not absolute: \(file); nothing is written",
          next: "name an absolute path by GIT_CONFIG_GLOBAL, HOME or XDG_CONFIG_HOME, whichever it is from")
      }
      var found = stat()
      guard stat(file, &found) == 0, found.st_mode & S_IFMT != S_IFREG else { continue }
      throw .configuration(
        "\(file) is no regular file, and git would replace it",
        next: .run("unset GIT_CONFIG_GLOBAL   # or name a file there"))
    }
  }

  private static let linkName = Dialect.git.program ?? "oauthctl"

  /// The link that an installation brings.
  static func link(beside executable: String) -> String { FileBytes.folder(of: executable) + "/" + linkName }

  /// How git is to start us: an absolute path, which git gives to the shell as it is, so every other character than
  /// the plain ones is escaped.
  static func helper(executable: String, hasLink: Bool, account: String? = nil) -> String {
    let path = hasLink ? link(beside: executable) : executable
    let escaped = path.unicodeScalars.map { scalar -> String in
      let isPlain =
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "/._-+".unicodeScalars.contains(scalar)
      return isPlain ? String(scalar) : "\\" + String(scalar)
    }.joined()
    // An account's name has no character that a shell would look at.
    return escaped + (hasLink ? "" : " " + Dialect.git.subcommand) + (account.map { " --account \($0)" } ?? "")
  }

  /// Whether a configured value starts us, wherever we were when it was written.
  static func isOurs(_ value: String) -> Bool {
    guard value.hasPrefix("/") else { return false }
    let words = value.split(separator: " ", omittingEmptySubsequences: false)
    // A path with blanks has them escaped, so its last part still ends its word.
    let command = words.count > 2 && words[words.count - 2] == "--account" ? words.dropLast(2) : words[...]
    let text = command.joined(separator: " ")
    return text.hasSuffix("/" + linkName) || text.hasSuffix("/oauthctl " + Dialect.git.subcommand)
  }

  /// What makes `values`, the key's present ones in order, end with an empty one and ours. Empty: nothing to do.
  static func install(key: String, values: [String], helper: String) -> [Command] {
    if values.suffix(2) == ["", helper], values.filter(isOurs).count == 1 { return [] }
    return remove(key: key, values: values) + [["--add", key, ""], ["--add", key, helper]]
  }

  /// What adds ours for a host without its port, where the earlier helpers go on. An empty value that somebody has put last
  /// there gets ours beside it, so that ``remove(key:values:)`` leaves the first.
  static func installPortless(key: String, values: [String], helper: String) -> [Command] {
    (values.last == "" ? [["--add", key, ""]] : []) + [["--add", key, helper]]
  }

  /// Whether ``remove(key:values:)`` writes values of the user's own anew, behind all that stands in the file.
  static func movesOthers(key: String, values: [String]) -> Bool {
    let commands = remove(key: key, values: values)
    return commands.first == ["--unset-all", key] && commands.count > 1
  }

  /// What takes our value, and the empty one that came with it, away again; others stay as they are.
  static func remove(key: String, values: [String]) -> [Command] {
    let ours = values.indices.filter { isOurs(values[$0]) }
    guard let first = ours.first else { return [] }
    let empties = values.indices.filter { values[$0].isEmpty }
    let isEmptyOurs = first > 0 && values[first - 1].isEmpty
    // git config does not tell several empty values apart: the key is written anew.
    if isEmptyOurs, empties.count > 1 {
      let kept = values.indices.filter { !ours.contains($0) && $0 != first - 1 }
      return [["--unset-all", key]] + kept.map { ["--add", key, values[$0]] }
    }
    let takesEmpty = isEmptyOurs
    if values.count == ours.count + (takesEmpty ? 1 : 0) { return [["--unset-all", key]] }
    var commands: [Command] = []
    for value in Set(ours.map { values[$0] }).sorted() {
      commands.append(["--fixed-value", "--unset-all", key, value])
    }
    if takesEmpty { commands.append(["--unset-all", key, "^$"]) }
    return commands
  }

  private static func withoutSlash(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }

  /// A command as a person would type it.
  static func shown(_ command: Command, in scope: [String] = GitReader.global) -> String {
    (["git", "config"] + scope + command).map(ShellWord.quoted).joined(separator: " ")
  }
}
