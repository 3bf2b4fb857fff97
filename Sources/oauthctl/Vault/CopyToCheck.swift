import Glibc

/// The copy of a backup beside the vault that the agent is given to check. It bears the number of the process that made
/// it, so that the next one can take away what a killed one left there.
enum CopyToCheck {
  private static let prefix = "vault.given."

  static func path(in folder: String) -> String { "\(folder)/\(prefix)\(getpid())" }

  /// Removes the copies, whole or not, of processes that are no more.
  static func removeLeftovers(in folder: String) {
    for name in FileBytes.names(in: folder) where name.hasPrefix(prefix) {
      guard let process = pid_t(name.dropFirst(prefix.count).prefix { $0 != "." }), process > 0 else { continue }
      if process == getpid() || kill(process, 0) != 0 && errno == ESRCH { unlink("\(folder)/\(name)") }
    }
  }
}
