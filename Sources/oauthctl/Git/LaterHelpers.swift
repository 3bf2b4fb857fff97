/// Helpers that git asks or tells after ours for a server: a git before 2.46 tells them the token that we gave.
struct LaterHelpers {
  /// What `git config` is asked: all helpers, and the files that it reads in some folders only, in its own order.
  static let query = ["--null", "--get-regexp", "^(credential(\\..*)?\\.helper|includeif\\..*\\.path)$"]

  private struct Entry {
    let helper: GitConfiguration.Helper
    /// Where it stands, if git reads that in some folders only.
    let file: String?
  }

  private var entries: [Entry] = []

  /// `list` is the answer to ``query``, and `included` the one of a file that it names; nil: it cannot be read.
  init(in list: String, included: (_ file: String) -> String?) {
    for entry in list.split(separator: "\0") {
      let parts = entry.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      if parts[0].hasPrefix("includeif."), parts.count == 2 {
        let found = included(parts[1]).map(GitConfiguration.helpers(in:)) ?? []
        entries += found.map { Entry(helper: $0, file: parts[1]) }
      } else {
        entries += GitConfiguration.helpers(in: String(entry)).map { Entry(helper: $0, file: nil) }
      }
    }
  }

  /// In order, each once. Those of the address itself and of broader keys count alike, since git takes them in the order of
  /// the files.
  func names(for url: String) -> [String] {
    let fitting = entries.filter { GitPattern($0.helper.url).fits(url) }
    guard let ours = fitting.lastIndex(where: { GitSetup.isOurs($0.helper.command) }) else { return [] }
    let after = fitting[(ours + 1)...]
    // What switches helpers off in some folders does not in others.
    let start = after.lastIndex { $0.helper.command.isEmpty && $0.file == nil }.map { $0 + 1 } ?? after.startIndex
    var names: [String] = []
    for entry in after[start...] where !entry.helper.command.isEmpty {
      let name = entry.helper.command
      let place = entry.file.map { " (in \($0), which git reads in some folders)" } ?? ""
      if !names.contains(name), !names.contains(name + place) { names.append(name + place) }
    }
    return names
  }
}
