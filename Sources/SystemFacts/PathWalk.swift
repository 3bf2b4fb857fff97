import Glibc

/// The way that a path leads, as the kernel goes it: name by name, each symbolic link followed where it stands.
package struct PathWalk: Sendable, Equatable {
  /// What lstat(2) finds under a path without links.
  package enum Entry: Sendable, Equatable {
    case link(target: String)
    case other
  }

  /// Symbolic links on one way, as many as the kernel follows (path_resolution(7)).
  private static let maximumLinks = 40
  /// Names on one way, those of its links too: ten times what homes have, so that no link costs much to look at.
  private static let maximumNames = 256

  /// The folders that a name is looked for in, each once, in the order of the way, without links.
  package private(set) var folders: [String] = []
  /// The symbolic links that are followed, each in the folder where it stands.
  package private(set) var links: [String] = []
  /// Where it ends, without links.
  package private(set) var end = "/"

  /// Nil: the path is relative, longer than the bounds, or leads nowhere. `entry`: nil where there is nothing.
  package init?(_ path: String, entry: (String) -> Entry?) {
    guard Self.isAbsolute(path) else { return nil }
    // The next one stands last.
    var names = Self.names(of: path)
    var nameCount = 0
    while let name = names.popLast() {
      nameCount += 1
      guard nameCount <= Self.maximumNames else { return nil }
      // Byte by byte: two names may be one text (Unicode) and two folders.
      if !folders.contains(where: { $0.utf8.elementsEqual(end.utf8) }) { folders.append(end) }
      if name == "." { continue }
      if name == ".." {
        end = Self.parent(of: end)
        continue
      }
      let next = end == "/" ? "/" + name : "\(end)/\(name)"
      switch entry(next) {
      case nil: return nil
      case .other: end = next
      case .link(let target):
        links.append(next)
        guard links.count <= Self.maximumLinks else { return nil }
        if Self.isAbsolute(target) { end = "/" }
        names += Self.names(of: target)
      }
    }
  }

  /// The way on this machine, now. Nil also where a link on it leads to a name that is no UTF-8.
  package static func live(_ path: String) -> PathWalk? {
    PathWalk(path) { path in
      switch SymbolicLink(at: path) {
      case .target(let target): .link(target: target)
      case .noLink: .other
      case .notText, .unreadable: nil
      }
    }
  }

  /// The way on this machine, now, with what is not there as folders that are to be made. Nil: the path is relative, or nobody can
  /// tell where it leads.
  package static func live(toMake path: String) -> PathWalk? {
    PathWalk(path) { path in
      switch SymbolicLink(at: path) {
      case .target(let target): .link(target: target)
      case .noLink, .unreadable: .other
      case .notText: nil
      }
    }
  }

  /// The way on this machine, now, to the last folder or file on it that is there. Nil: the path is relative.
  package static func live(asFarAs path: String) -> PathWalk? {
    var path = path
    while isAbsolute(path) {
      if let way = live(path) { return way }
      path = parent(of: path)
    }
    return nil
  }

  /// Byte by byte: an accent after a slash does not hide it.
  package static func isAbsolute(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }

  private static func names(of path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).reversed().map { String(decoding: $0, as: UTF8.self) }
  }

  static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}
