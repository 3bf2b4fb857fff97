import Glibc
import HTTPTerms
import SystemFacts

/// The address with which git began, as it was typed: by that it looks its settings up, also after a redirect, and it does not
/// tell it to a helper. It stands in the arguments of the program that git starts for it, above this one.
enum GitBeginning {
  /// Nil where no such program is found: other programs ask as git does.
  static func address() -> String? {
    var process = getppid()
    // A shell may stand in between.
    for _ in 0..<3 where process > 1 {
      guard let words = FileBytes.contents(of: "/proc/\(process)/cmdline") else { return nil }
      if let found = address(in: words) { return found }
      guard let parent = parent(in: FileBytes.contents(of: "/proc/\(process)/stat") ?? []) else { return nil }
      process = parent
    }
    return nil
  }

  /// `git-remote-https REMOTE [URL]`, or `git remote-https …`.
  static func address(in arguments: [UInt8]) -> String? {
    var words = arguments.split(separator: 0, omittingEmptySubsequences: false).dropLast()
      .map { String(decoding: $0, as: UTF8.self) }[...]
    guard let program = words.popFirst().map(FileBytes.name(of:)) else { return nil }
    let names = ["http", "https"]
    if program == "git", let command = words.first {
      guard names.contains(where: { command == "remote-" + $0 }) else { return nil }
      words = words.dropFirst()
    } else if !names.contains(where: { program == "git-remote-" + $0 }) {
      return nil
    }
    return words.count > 2 ? nil : words.last
  }

  /// The fourth field, behind the name in brackets (proc_pid_stat(5)).
  static func parent(in stat: [UInt8]) -> pid_t? {
    guard let bracket = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = stat[bracket...].split(separator: UInt8(ascii: " "))
    return fields.count > 2 ? pid_t(String(decoding: fields[2], as: UTF8.self)) : nil
  }

  /// Whether git finds the settings of `url`'s server by `address`: it is at that server, and nothing in it is spelled so that
  /// git cannot tell, or libcurl reads it otherwise.
  static func isPlain(_ address: String, for url: String) -> Bool {
    guard let scheme = address.range(ofText: "://"), let asked = try? Origin(of: url) else { return false }
    let rest = address[scheme.upperBound...]
    let authority = rest.prefix { !"/?#".contains($0) }
    let path = rest[authority.endIndex...]
    let server = (authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority)
      .lowercased()
    let port = server.hasPrefix(asked.host + ":") ? Int(server.dropFirst(asked.host.count + 1)) : nil
    let isServer =
      address[..<scheme.lowerBound].lowercased() == asked.scheme.rawValue
      && (server == asked.host ? asked.port == asked.scheme.defaultPort : port == asked.port)
    let isEscaped = address.split(separator: "%", omittingEmptySubsequences: false).dropFirst()
      .allSatisfy { $0.count > 1 && $0.prefix(2).allSatisfy(\.isHexDigit) }
    return isServer && isEscaped && path.range(ofText: "/..") == nil && path.range(ofText: "/./") == nil
  }
}
