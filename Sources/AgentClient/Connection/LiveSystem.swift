package import AgentWire
import CLinux
import Glibc

/// This process and its files, as the pure rules want them.
package enum LiveSystem {
  /// One variable of the environment: all that the way to a token needs of it.
  package static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// The whole environment. Of a variable that is there twice, the first counts, as for getenv(3).
  package static func environment() -> [String: String] {
    var variables: [String: String] = [:]
    guard var entry = clinux_environment() else { return variables }
    while let text = entry.pointee {
      let pair = String(cString: text)
      if let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) {
        let name = String(pair[..<equals])
        if variables[name] == nil { variables[name] = String(pair[pair.utf8.index(after: equals)...]) }
      }
      entry += 1
    }
    return variables
  }

  /// lstat(2), nil where there is nothing or nothing can be seen.
  package static func status(_ path: String) -> SocketLocation.FileStatus? {
    var found = stat()
    guard lstat(path, &found) == 0 else { return nil }
    return describe(found)
  }

  /// stat(2): of what a symbolic link leads to.
  package static func followedStatus(_ path: String) -> SocketLocation.FileStatus? {
    var found = stat()
    guard stat(path, &found) == 0 else { return nil }
    return describe(found)
  }

  private static func describe(_ found: stat) -> SocketLocation.FileStatus {
    let kind: SocketLocation.FileStatus.Kind =
      switch found.st_mode & S_IFMT {
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      case S_IFSOCK: .socket
      default: .other
      }
    return .init(kind: kind, owner: found.st_uid, mode: found.st_mode & 0o7777)
  }
}
