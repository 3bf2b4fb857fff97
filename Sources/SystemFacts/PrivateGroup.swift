import Glibc

/// The group that a user has for himself, which has his name, no other member, and is no other user's own, as Debian and others
/// make one for each user and as pam_umask(8) knows it by: what it may write only he may write.
package enum PrivateGroup {
  /// Of the user of this process. A machine's users do not change while it runs.
  package static let own: UInt32? = {
    guard let passwd = lines(of: "/etc/passwd"), let group = lines(of: "/etc/group") else { return nil }
    return number(of: geteuid(), passwd: passwd, group: group)
  }()

  /// Nil: he has none. One who is not in passwd(5), as users of a directory service are, is taken to have the group of his
  /// own number, where nobody is known to have it, too.
  package static func number(of user: UInt32, passwd: [String], group: [String]) -> UInt32? {
    func fields(_ line: String) -> [Substring] { line.split(separator: ":", omittingEmptySubsequences: false) }
    let users = passwd.lazy.map(fields).filter { $0.count >= 4 }
    let entry = users.first { UInt32($0[2]) == user }
    let number = entry.map { $0[3] } ?? Substring("\(user)")
    // One number may have several names, and the members of each.
    let named = group.lazy.map(fields).filter { $0.count >= 4 && $0[2] == number }
    let isHis = named.allSatisfy { line in
      entry.map { line[0] == $0[0] && (line[3].isEmpty || line[3] == $0[0]) } ?? line[3].isEmpty
    }
    let isAnothers = users.contains { $0[3] == number && UInt32($0[2]) != user }
    guard isHis, !isAnothers, entry == nil || !named.isEmpty else { return nil }
    return UInt32(number)
  }

  /// At most 1 MiB: ten thousand users. Nil where there is more, which nobody has looked at; empty where there is no file.
  private static func lines(of file: String) -> [String]? {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = read(descriptor, &part, part.count), count > 0 {
      bytes += part[..<count]
      guard bytes.count <= 1 << 20 else { return nil }
    }
    return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }
}
