import Glibc

/// What readlink(2) finds at a path.
package enum SymbolicLink: Sendable, Equatable {
  case target(String)
  /// What it holds is no UTF-8: repaired, it would name another file.
  case notText
  /// Something else is there.
  case noLink
  /// Nothing is there, it cannot be reached, or what it holds has `PATH_MAX` bytes or more.
  case unreadable

  package init(at path: String) {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &buffer, buffer.count)
    guard count >= 0 else {
      self = errno == EINVAL ? .noLink : .unreadable
      return
    }
    guard count < buffer.count else {
      self = .unreadable
      return
    }
    let text = String(validating: buffer[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    self = text.map { .target($0) } ?? .notText
  }
}
