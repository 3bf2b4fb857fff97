/// A file or folder that has to be the user's own and is not, in the words of whoever finds it.
package enum FileOwner {
  /// Completes a sentence that begins with its name.
  package static func reason(_ owner: UInt32) -> String {
    owner == 0 ? "belongs to root" : "belongs to another user (uid \(owner))"
  }

  /// The command that makes it `user`'s, which nobody but root may do. `word` is its path as a shell reads it.
  package static func remedy(_ word: String, for user: UInt32) -> String { "sudo chown \(user): \(word)" }
}
