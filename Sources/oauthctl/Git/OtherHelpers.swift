import AgentWire
import Glibc
import HTTPTerms

/// Helpers that git has beside ours for a server: a git before 2.46 tells each of them the token that we gave.
struct OtherHelpers {
  /// What `git config` is asked: all helpers, and the files that it reads in some folders only, in its own order.
  private static let query = [
    "--includes", "--show-origin", "--null", "--get-regexp", "^(credential(\\..*)?\\.helper|includeif\\..*\\.path)$",
  ]

  /// How deep files are included in files: git reads no deeper.
  private static let mostDepth = 10
  /// Places where one is included; each costs a run of git.
  private static let mostFiles = 500

  private struct Entry {
    let pattern: GitPattern
    let command: String
    let isOurs: Bool
    /// Where it stands, if git reads that in some folders only.
    let file: String?
    /// As git says it: a file, or that it is of the environment.
    let origin: String

    init(_ helper: GitConfiguration.Helper, in file: String?, origin: String) {
      (pattern, command, self.file, self.origin) = (GitPattern(helper.url), helper.command, file, origin)
      isOurs = GitSetup.isOurs(helper.command)
    }

    /// Whether it is an empty one, and git always asks none of those before it there.
    func switchesOff(_ address: GitPattern) -> Bool { command.isEmpty && file == nil && pattern.isWhole(address) }
  }

  private var entries: [Entry] = []
  private var files = 0
  private let home: String

  /// As git is set up; `folder`: as it is in that one. A file that is included has to be one: git would wait for others.
  init(_ environment: Environment, _ machine: Machine, in folder: String? = nil) {
    let git = ["git"] + (folder.map { ["-C", $0] } ?? []) + ["config"]
    self.init(home: environment["HOME"] ?? "") { options in
      var found = stat()
      if options.first == "--file", stat(options[1], &found) != 0 || found.st_mode & S_IFMT != S_IFREG { return nil }
      return machine.output(git + options)?.text
    }
  }

  /// `answer` is what `git config` prints for its options; nil: it says nothing.
  init(home: String, answer: (_ options: [String]) -> String?) {
    self.home = home
    read(answer(Self.query), nil, 0, answer)
  }

  private mutating func read(_ list: String?, _ file: String?, _ depth: Int, _ answer: (_ options: [String]) -> String?)
  {
    // Where an entry stands, and the entry.
    let fields = (list ?? "").split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
    for (origin, entry) in zip(fields, fields.dropFirst()).enumerated().compactMap({ $0.isMultiple(of: 2) ? $1 : nil })
    {
      let parts = entry.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts[0].hasPrefix("includeif.") else {
        entries += GitConfiguration.helpers(in: entry).map { Entry($0, in: file, origin: origin) }
        continue
      }
      let path = place(parts.count == 2 ? parts[1] : "", namedIn: origin)
      if Self.isUnreadable(path) {
        entries.append(Entry(GitConfiguration.Helper(url: "", command: "any"), in: path, origin: origin))
      }
      guard files < Self.mostFiles, depth < Self.mostDepth else { continue }
      files += 1
      read(answer(["--file", path] + Self.query), path, depth + 1, answer)
    }
  }

  /// Whether git alone finds the file: a path that is no UTF-8, or that begins with `%(prefix)/` or `:(optional)`.
  private static func isUnreadable(_ path: String) -> Bool {
    path.unicodeScalars.contains("\u{FFFD}") || path.hasPrefix("%(") || path.hasPrefix(":(")
  }

  /// git takes a relative path from the folder of the file that names it.
  private func place(_ path: String, namedIn origin: String) -> String {
    if path.hasPrefix("~/") { return home + path.dropFirst(1) }
    if path.hasPrefix("~") {
      let user = path.dropFirst().prefix { $0 != "/" }
      return getpwnam(String(user)).map { String(cString: $0.pointee.pw_dir) + path.dropFirst(1 + user.count) } ?? path
    }
    guard !path.hasPrefix("/"), !path.hasPrefix("%("), !path.hasPrefix(":("), origin.hasPrefix("file:") else {
      return path
    }
    return FileBytes.folder(of: String(origin.dropFirst("file:".count))) + "/" + path
  }

  /// In order, each once. Those of the address itself and of broader keys count alike, since git takes them in the order of
  /// the files.
  func names(for url: String) -> [String] {
    let (fitting, counting) = entries(for: url)
    guard fitting.contains(where: \.isOurs) else { return [] }
    var names: [String] = []
    for entry in counting where !entry.command.isEmpty && !entry.isOurs {
      let name = Self.shown(entry.command)
      let place = entry.file.map { " (in \($0), which git reads in some folders)" } ?? ""
      if !names.contains(name), !names.contains(name + place) { names.append(name + place) }
    }
    return names
  }

  /// Its first word: what stands behind that, and a line of shell, may hold a password.
  private static func shown(_ command: String) -> String {
    command.hasPrefix("!") ? "a line of shell" : UserInfo.cut(from: String(command.prefix { !$0.isWhitespace }))
  }

  /// Those of `urls` for which git asks us nothing, since an empty helper stands behind ours, and what to do; nil: there are none.
  func switchedOff(_ urls: [String]) -> (reason: String, step: NextStep)? {
    var (off, places): ([String], [String]) = ([], [])
    for url in urls {
      let address = GitPattern(url), fitting = entries.filter { $0.pattern.fits(address) }
      let behind = fitting.lastIndex(where: \.isOurs).map { fitting[$0...] } ?? []
      guard let empty = behind.last(where: { $0.switchesOff(address) }) else { continue }
      off.append(url)
      let origin = empty.origin
      let place = PrintableText.escaped(origin.hasPrefix("file:") ? String(origin.dropFirst("file:".count)) : origin)
      if !places.contains(place) { places.append(place) }
    }
    guard !off.isEmpty else { return nil }
    return (
      "git does not ask oauthctl for \(off.joined(separator: ", ")): an empty helper behind oauthctl's switches it off",
      .advice("take that `helper =` out, or put it before oauthctl's lines: \(places.joined(separator: ", "))")
    )
  }

  /// Those for an address, and of these the ones that git may ask: what switches those before it off in some folders, for one user
  /// or for some paths does not for others.
  private func entries(for url: String) -> (fitting: [Entry], counting: ArraySlice<Entry>) {
    let address = GitPattern(url), fitting = entries.filter { $0.pattern.fits(address) }
    let start = fitting.lastIndex { $0.switchesOff(address) }.map { $0 + 1 } ?? fitting.startIndex
    return (fitting, fitting[start...])
  }
}
