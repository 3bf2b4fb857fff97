import AgentWire
import CLinux
import Glibc

/// What keeps an agent from answering, told from a server that is slow: a stopped process, or a request that nobody has
/// read yet. It is looked at from outside, so asking costs the agent nothing.
struct UnresponsiveAgent: Equatable {
  /// How long an agent may be quiet before it is looked at: it answers in milliseconds, and most servers in a second.
  static let milliseconds: Int32 = 5_000

  /// Nil where another process listens for the agent, as systemd does, or nothing is to be seen of it.
  var process: Int32?
  var isStopped: Bool
  /// Whether it has taken all that was sent.
  var hasRead: Bool

  init(process: Int32?, isStopped: Bool, hasRead: Bool) {
    self.process = process
    self.isStopped = isStopped
    self.hasRead = hasRead
  }

  init(behind socket: Descriptor) {
    var (user, group, listener) = (uid_t(), gid_t(), pid_t())
    let isKnown = clinux_peer_credentials(socket.number, &user, &group, &listener) == 0
    let state = isKnown ? Self.state(of: listener) : nil
    process = state == nil ? nil : listener
    isStopped = state.map { "Tt".utf8.contains($0) } ?? false
    var unread: Int32 = 0
    hasRead = ioctl(socket.number, UInt(TIOCOUTQ), &unread) != 0 || unread == 0
  }

  /// Nil: it lives, as far as can be seen. `isDue`: what was asked needs no server, so the answer had to be here.
  func remark(isDue: Bool) -> String? {
    let name = "the agent" + (process.map { " (pid \($0))" } ?? "")
    if isStopped { return "\(name) is stopped, and answers once it goes on" }
    if !hasRead { return "\(name) has not taken the request yet: it hangs, or has too much to do; waiting for it" }
    return isDue
      ? "\(name) has not answered yet: its disk does not answer, or it has too much to do; waiting for it" : nil
  }

  var remedy: NextStep {
    guard isStopped, let process else { return .run("oauthctl doctor") }
    return ClientError.remedy(ofStopped: process)
  }

  private static func state(of process: pid_t) -> UInt8? {
    let file = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 512) { buffer, count in
      count = max(0, read(file, buffer.baseAddress, buffer.count))
    }
    return state(inStat: bytes)
  }

  /// The state in `/proc/PID/stat` of an `oauthd` (proc(5)). A name may hold anything, so it ends at the last bracket.
  static func state(inStat bytes: [UInt8]) -> UInt8? {
    guard let start = bytes.firstIndex(of: UInt8(ascii: "(")), let end = bytes.lastIndex(of: UInt8(ascii: ")")),
      start < end, bytes[(start + 1)..<end].elementsEqual("oauthd".utf8), bytes.count > end + 2
    else { return nil }
    return bytes[end + 2]
  }
}
