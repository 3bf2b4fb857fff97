import Glibc

/// A file or folder of the user's own that its mode keeps from him, in the words of whoever finds it.
package enum ClosedPath {
  /// Completes a sentence that begins with its name. `mode` is that of stat(2); its rights are told.
  package static func reason(mode: UInt32) -> String {
    "is closed to you (mode \(FileMode.digits(mode)))"
  }

  /// The command that opens it for its owner alone. `word` is its path as a shell reads it.
  package static func remedy(_ word: String, isFolder: Bool) -> String {
    "chmod \(isFolder ? "700" : "600") \(word)"
  }

  /// What keeps a path from its owner: the path itself, or the first folder above it.
  package struct Place: Sendable, Equatable {
    package let path: String
    package let mode: UInt32
    package let isAbove: Bool

    /// Completes a sentence that begins with the name of what was to be opened.
    package var reason: String {
      let closed = ClosedPath.reason(mode: mode)
      return isAbove ? "is in \(path), which \(closed)" : closed
    }

    /// The command that opens it. Others who have a way through a folder above keep it.
    package func remedy(isFolder: Bool) -> String {
      let word = ShellWord.quoted(path)
      return isAbove && mode & 0o077 != 0
        ? "chmod u+rwx \(word)" : ClosedPath.remedy(word, isFolder: isAbove || isFolder)
    }
  }

  /// Why `path` cannot be opened by user `uid`, who is asking (EACCES); nil: what is closed is not his.
  package static func place(closing path: String, to uid: UInt32) -> Place? {
    let above = path.indices.filter { path[$0] == "/" && $0 != path.startIndex }.map { String(path[..<$0]) }
    let shut = above.first { access($0, X_OK) != 0 }
    var found = stat()
    guard stat(shut ?? path, &found) == 0, found.st_uid == uid else { return nil }
    return Place(path: shut ?? path, mode: found.st_mode, isAbove: shut != nil)
  }
}
