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
      if let found = try address(in: words) { return found }
      process = parent
    }
    if process > 1 { throw Unknown() }
    return nil
  }

  struct Unknown: Error {}

  /// Processes that are looked at: no chain of shells is as long.
  private static let limit = 64

  /// `git-remote-https REMOTE [URL]`, or `git remote-https …`; the program of ftp is the same. A loader or an emulator may stand
  /// before it, with words of its own. Throws `Unknown` for what holds the program's name otherwise: remote and address may be
  /// called so, too.
  static func address(in arguments: [UInt8]) throws(Unknown) -> String? {
    let words = Array(arguments.split(separator: 0, omittingEmptySubsequences: false).dropLast())
    let named = words.indices.filter { index in
      let name = lastPart(of: words[index])
      return schemes.contains { scheme in
        name.elementsEqual("git-remote-\(scheme)".utf8)
          || name.elementsEqual("remote-\(scheme)".utf8) && index > 0
            && lastPart(of: words[index - 1]).elementsEqual("git".utf8)
      }
    }
    guard !named.isEmpty else { return nil }
    guard named.contains(where: { (1...2).contains(words.count - 1 - $0) }), let address = words.last else {
      throw Unknown()
    }
    return String(decoding: address, as: UTF8.self)
  }

  /// What stands behind the last slash.
  private static func lastPart(of word: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    word.suffix(from: word.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? word.startIndex)
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
