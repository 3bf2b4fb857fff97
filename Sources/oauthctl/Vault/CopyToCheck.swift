import CLinux
import Glibc

/// The copy of a backup beside the vault that the agent is given to check. It is locked as long as somebody is at work on
/// it: the kernel ends that however he ends, and the agent and the next check remove what nobody holds. A change of what
/// opens the vault removes what is held, too.
enum CopyToCheck {
  private static let prefix = "vault.given."

  /// The number of this process keeps it apart from others at work, and tells nothing else.
  static func path(in folder: String) -> String { "\(folder)/\(prefix)\(getpid())" }

  /// Removes the copies, whole or not, that nobody holds.
  static func removeLeftovers(in folder: String) {
    for name in FileBytes.names(in: folder) where name.hasPrefix(prefix) {
      guard let process = pid_t(name.dropFirst(prefix.count).prefix { $0 != "." }), process > 0 else { continue }
      if !isHeld("\(folder)/\(name)") { unlink("\(folder)/\(name)") }
    }
  }

  private static func isHeld(_ path: String) -> Bool {
    // A pipe of that name would be waited for.
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return clinux_is_locked(descriptor) == 1
  }
}
