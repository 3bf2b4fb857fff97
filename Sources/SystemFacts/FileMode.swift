/// The rights in a file's mode, as chmod(1) and ls(1) are used: three digits.
package enum FileMode {
  /// `mode` is that of stat(2); what is not among its rights (0 to 0o777) is left out.
  package static func digits(_ mode: UInt32) -> String {
    let rights = String(mode & 0o777, radix: 8)
    return String(repeating: "0", count: 3 - rights.count) + rights
  }

  /// The command that keeps others from writing to a folder. `word` is its path as a shell reads it. In somebody else's
  /// folder a group may be right, and only root can change it.
  package static func keepingOthersOut(of word: String, isOwn: Bool) -> String {
    "\(isOwn ? "chmod go-w" : "sudo chmod o-w") \(word)"
  }
}
