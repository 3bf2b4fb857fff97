import Glibc

package enum SymbolicLink {
  /// What the symbolic link at `path` holds.
  ///
  /// - Returns: nil where it cannot be had as text; errno says why: `EINVAL`: it is no link; `EILSEQ`: what it holds is no UTF-8, and
  ///   would name another file if it was repaired; `ENAMETOOLONG`: it is longer than `PATH_MAX`.
  package static func target(of path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &buffer, buffer.count)
    guard count >= 0 else { return nil }
    guard count < buffer.count else {
      errno = ENAMETOOLONG
      return nil
    }
    let text = String(validating: buffer[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    if text == nil { errno = EILSEQ }
    return text
  }
}
