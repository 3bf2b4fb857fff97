import AgentWire
import CLinux
import Glibc
import SystemFacts

/// What an agent that systemd has started takes away from itself and from all that it starts: to change files that are not
/// its own. The unit could do that in a user namespace alone (`PrivateUsers=`), and there each program of its user may
/// trace it.
enum WriteFence {
  /// Leaves these folders to be written to, in so far as they are there. To be called while there is one thread. Returns what
  /// could not be done; a kernel without Landlock is told by `oauthctl doctor`.
  static func put(around folders: [String]) -> AgentCondition? {
    let paths: [UnsafePointer<CChar>?] = folders.map { UnsafePointer(strdup($0)) }
    defer { for path in paths { free(UnsafeMutablePointer(mutating: path)) } }
    let version = paths.withUnsafeBufferPointer { clinux_fence_writes($0.baseAddress, $0.count) }
    guard version < 0 else { return nil }
    return AgentCondition(
      .protection, "files are not fenced off from the agent: Landlock failed (\(String(cString: strerror(errno))))")
  }
}
