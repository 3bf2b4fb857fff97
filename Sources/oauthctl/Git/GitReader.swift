import AgentWire
import SystemFacts

/// git's global configuration, as git itself reads it: both files, where both are there. It ends at a line that it does not
/// understand, and of a file that is closed to its owner it says no more than of one that is not there: neither is a
/// configuration that names nobody.
struct GitReader {
  let environment: Environment
  let machine: Machine

  init(_ environment: Environment, _ machine: Machine = .live()) {
    self.environment = environment
    self.machine = machine
  }

  /// Where it may stand.
  static func files(_ environment: Environment) -> [String] {
    // git takes empty values of these two as they are.
    if let named = environment.raw("GIT_CONFIG_GLOBAL") { return [named] }
    let home = environment.raw("HOME")
    let other = environment["XDG_CONFIG_HOME"].map { $0 + "/git/config" } ?? home.map { $0 + "/.config/git/config" }
    return [home.map { $0 + "/.gitconfig" }, other].compactMap { $0 }
  }

  /// Each of the files as it is now. `git config` tells nothing of the files that they include, and changes none of those.
  var configurations: [GitConfigurationFile] { Self.files(environment).map { GitConfigurationFile($0) } }

  /// Where `git config --global` reads and writes.
  static let global = ["--global"]

  /// The options of `git config` for each of the files, in git's own order. `--global` alone looks into one of them.
  var scopes: [[String]] {
    let present = present
    return present.count == 2 ? [["--file", present[1]], Self.global] : [Self.global]
  }

  /// The file that one of the ``scopes`` is about; nil: there is none without `HOME`.
  func file(of scope: [String]) -> String? {
    scope == Self.global ? present.first ?? Self.files(environment).first : scope.last
  }

  /// One of them where both are the same file.
  private var present: [String] {
    let present = Self.files(environment).filter { machine.followedStatus($0) != nil }
    return present.count == 2 && FileBytes.isSamePlace(present[0], present[1]) ? [present[0]] : present
  }

  /// What `git config` prints for `query`; empty where nothing is set.
  ///
  /// - Throws: `CommandError.configuration` where git cannot read it.
  func text(_ query: [String]) throws(CommandError) -> String {
    var text = ""
    for scope in scopes { text += try self.text(query, in: scope) }
    return text
  }

  /// All that each of the ``scopes`` says. Unlike `--list` it is silent where there is no file yet.
  func everything() throws(CommandError) -> [[String]: String] {
    var found: [[String]: String] = [:]
    for scope in scopes { found[scope] = try text(["--null", "--get-regexp", "."], in: scope) }
    return found
  }

  private func text(_ query: [String], in scope: [String]) throws(CommandError) -> String {
    for file in Self.files(environment) {
      guard let closed = machine.closedPlace(file) else { continue }
      throw .configuration(
        "git cannot read its configuration: \(file) \(closed.reason)", next: .run(closed.remedy(isFolder: false)))
    }
    guard let found = machine.output(["git", "config"] + scope + query) else {
      throw .local("git cannot be started", next: .run("git --version"), status: 1)
    }
    // 1: nothing is set.
    guard found.status == 0 || found.status == 1 && found.text.isEmpty else {
      let complaint = PrintableText.escaped(found.complaint)
      throw .configuration(
        "git cannot read its configuration" + (complaint.isEmpty ? "" : ": \(complaint)"),
        // `git config --global --edit` refuses such a file, too.
        next: "mend in an editor what git names there, then run this command again")
    }
    return found.text
  }

  /// The values of `key` in one of the ``scopes``, in order.
  func values(_ key: String, in scope: [String]) throws(CommandError) -> [String] {
    // Every value ends with NUL, the empty one too.
    try text(["--null", "--get-all", key], in: scope)
      .split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
  }
}
