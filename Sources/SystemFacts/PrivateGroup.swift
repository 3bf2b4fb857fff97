import Glibc

/// The group that a user has for himself, which has his name, no other member, and is no other user's own, as Debian and others make one for each user
/// and as pam_umask(8) knows it by: what it may write only he may write.
package enum PrivateGroup {
  /// Of the user of this process. A machine's users do not change while it runs.
  package static let own: UInt32? = number(
    of: geteuid(), passwd: lines(of: "/etc/passwd"), group: lines(of: "/etc/group"))

  /// Nil: he has none. One who is not in passwd(5), as users of a directory service are, is taken to have the group of his
  /// own number.
  package static func number(of user: UInt32, passwd: [String], group: [String]) -> UInt32? {
    func fields(_ line: String) -> [Substring] { line.split(separator: ":", omittingEmptySubsequences: false) }
    guard let entry = passwd.lazy.map(fields).first(where: { $0.count >= 4 && UInt32($0[2]) == user }) else {
      return user
    }
    // One number may have several names, and the members of each.
    let named = group.lazy.map(fields).filter { $0.count >= 4 && $0[2] == entry[3] }
    guard !named.isEmpty, named.allSatisfy({ $0[0] == entry[0] && ($0[3].isEmpty || $0[3] == entry[0]) }) else {
      return nil
    }
    let isAnothers = passwd.lazy.map(fields).contains { $0.count >= 4 && $0[3] == entry[3] && UInt32($0[2]) != user }
    guard !isAnothers else { return nil }
    return UInt32(entry[3])
  }

  /// At most 1 MiB: ten thousand users.
  private static func lines(of file: String) -> [String] {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count < 1 << 20 {
      let count = read(descriptor, &part, part.count)
      guard count > 0 else { break }
      bytes += part[..<count]
    }
    return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }
}
