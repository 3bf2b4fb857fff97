import AgentWire
import Glibc
import SystemFacts

/// Held while one client binds the socket and starts an agent: of many starters one starts, the others find it.
struct StartLock {
  private let descriptor: Descriptor

  /// Waits until the lock is free. Throws `timeout` or `notReachable`.
  init(in directory: String, deadline: Deadline) throws(ClientError) {
    let path = "\(directory)/start.lock"
    let number = PrivateCreation.openFile(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard number >= 0 else {
      throw .notReachable(
        path: PrintableText.escaped(path), reason: "the lock cannot be opened: \(describe(errno: errno))",
        hint: "it can be removed where no agent starts: rm \(PrintableText.escaped(ShellWord.quoted(path)))")
    }
    descriptor = Descriptor(number)
    while flock(number, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw .notReachable(
          path: PrintableText.escaped(path), reason: "the lock cannot be taken: \(describe(errno: errno))",
          hint: "it can be removed where no agent starts: rm \(PrintableText.escaped(ShellWord.quoted(path)))")
      }
      if deadline.remainingMilliseconds == 0 { throw .timeout(milliseconds: deadline.milliseconds) }
      usleep(5_000)
    }
  }

  /// Frees it; closing the descriptor would too, were it not shared with a child for a moment.
  func release() { _ = flock(descriptor.number, LOCK_UN) }
}
