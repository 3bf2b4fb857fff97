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
}
