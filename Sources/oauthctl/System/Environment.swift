import Glibc
import SystemFacts

/// What the process was given by whoever started it: its environment. Rules take it as a value; only `live` reads.
struct Environment: Sendable {
  private let lookup: @Sendable (String) -> String?

  init(_ variables: [String: String]) { lookup = { variables[$0] } }

  private init(lookup: @escaping @Sendable (String) -> String?) { self.lookup = lookup }

  static let live = Environment(lookup: { name in getenv(name).map { String(cString: $0) } })

  /// A variable's value; one that is set but empty counts as not set, except where `raw` is asked.
  subscript(name: String) -> String? {
    guard let value = lookup(name), !value.isEmpty else { return nil }
    return value
  }

  /// A variable's value, empty or not.
  func raw(_ name: String) -> String? { lookup(name) }

  /// The home folder. A static program has no user database, so `HOME` must say.
  var home: String? { self["HOME"] }

  /// `oauthctl` below `XDG_…_HOME` or its default. A relative value is ignored, as the specification says.
  func folder(_ kind: BaseFolder) -> String? {
    kind.path(value: self[kind.variable], home: home).map { $0 + "/oauthctl" }
  }

  /// A path with `~/` in front of it as it is.
  func expanded(_ path: String) -> String {
    TildePath.expanded(path, home: home) ?? path
  }

  /// A path as people write it: `~` for the home folder.
  func abbreviated(_ path: String) -> String {
    // Of bytes: the slash may make one character with the letter before or behind it.
    guard let home, home != "/", path.utf8.starts(with: (home + "/").utf8) else { return path }
    return "~" + String(decoding: path.utf8.dropFirst(home.utf8.count), as: UTF8.self)
  }

  /// A text with each path in it as people write it. One within a word or quotation marks stays as it is: there a shell
  /// would not read `~`.
  func shortPaths(in text: String) -> String {
    guard let home, home != "/" else { return text }
    let (path, bytes) = (Array((home + "/").utf8), Array(text.utf8))
    var shown: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if shown.last.map({ " (".utf8.contains($0) }) != false, bytes[index...].starts(with: path) {
        shown += "~/".utf8
        index += path.count
      } else {
        shown.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: shown, as: UTF8.self)
  }

  /// Whether the locale is one without UTF-8, as `LANG=C` is. One that is not set says nothing.
  var wantsASCII: Bool {
    guard let locale = self["LC_ALL"] ?? self["LC_CTYPE"] ?? self["LANG"] else { return false }
    let letters = locale.lowercased().filter { $0 != "-" }
    return !letters.hasSuffix("utf8") && !letters.contains("utf8@")
  }

  /// Whether a person sits at this machine's screen. Over ssh without a forwarded display nobody does.
  var isRemoteSession: Bool {
    (self["SSH_CONNECTION"] != nil || self["SSH_TTY"] != nil) && !hasDisplay
  }

  /// Whether there is a screen that a program could show something on.
  var hasDisplay: Bool { self["DISPLAY"] != nil || self["WAYLAND_DISPLAY"] != nil }
}
