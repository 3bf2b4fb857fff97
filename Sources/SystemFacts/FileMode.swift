/// The rights in a file's mode, as chmod(1) and ls(1) are used: three digits.
package enum FileMode {
  /// `mode` is that of stat(2); what is not among its rights (0 to 0o777) is left out.
  package static func digits(_ mode: UInt32) -> String {
    let rights = String(mode & 0o777, radix: 8)
    return String(repeating: "0", count: 3 - rights.count) + rights
  }
}
