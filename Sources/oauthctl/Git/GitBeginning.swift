import Glibc
import SystemFacts

/// The address with which git began, as it was typed: by that it looks its settings up, also after a redirect, and it does not
/// tell it to a helper. It stands in the arguments of the program that git starts for it, above this one.
enum GitBeginning {
  /// Nil where no such program is found: other programs ask as git does. Throws `Unknown` where nobody can look.
  static func address() throws(Unknown) -> String? {
    var process = getppid()
    // Whoever started it has ended, or is hidden.
    guard process > 1 else { throw Unknown() }
    // Shells and programs of the user's own may stand in between.
    for count in 0..<limit where process > 1 {
      guard let words = FileBytes.contents(of: "/proc/\(process)/cmdline"),
        let parent = parent(in: FileBytes.contents(of: "/proc/\(process)/stat") ?? [])
      else {
        // Another user's above it starts no git of ours.
        if count > 0 { return nil }
        throw Unknown()
      }
      if let found = address(in: words) { return found }
      process = parent
    }
    if process > 1 { throw Unknown() }
    return nil
  }

  struct Unknown: Error {}

  /// Processes that are looked at: no chain of shells is as long.
  private static let limit = 64

  /// `git-remote-https REMOTE [URL]`, or `git remote-https …`; the program of ftp is the same.
  static func address(in arguments: [UInt8]) -> String? {
    var words = arguments.split(separator: 0, omittingEmptySubsequences: false).dropLast()
    // A loader or an emulator may stand before it, with words of its own.
    guard let last = words.prefix(6).lastIndex(where: isProgram) else { return nil }
    words = words[(last + 1)...]
    return words.count > 2 ? nil : words.last.map { String(decoding: $0, as: UTF8.self) }
  }

  private static func isProgram(_ word: ArraySlice<UInt8>) -> Bool {
    let name = word.suffix(from: word.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? word.startIndex)
    return schemes.contains { name.elementsEqual("git-remote-\($0)".utf8) || name.elementsEqual("remote-\($0)".utf8) }
  }

  private static let schemes = ["https", "http", "ftp", "ftps"]

  /// The fourth field, behind the name in brackets (proc_pid_stat(5)).
  static func parent(in stat: [UInt8]) -> pid_t? {
    guard let bracket = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = stat[bracket...].split(separator: UInt8(ascii: " "))
    return fields.count > 2 ? pid_t(String(decoding: fields[2], as: UTF8.self)) : nil
  }

  /// Whether git began at the server of `url`, by the same spelling; at any doubt it did not.
  static func isAt(_ address: String, _ url: String) -> Bool { server(of: address) == server(of: url) }

  /// Scheme, host and port, as they stand there.
  private static func server(of address: String) -> [UInt8]? {
    let bytes = Array(address.utf8), slash = UInt8(ascii: "/")
    // Behind `scheme://`.
    guard let start = bytes.firstIndex(of: slash).map({ $0 + 2 }), start < bytes.count, bytes[start - 1] == slash else {
      return nil
    }
    let rest = bytes[start...]
    let authority = rest.prefix { $0 != slash && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let name = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
    return Array(bytes[..<start] + name)
  }
}
