import Glibc

/// Tells the service manager how the agent is (sd_notify(3)). Without a NOTIFY_SOCKET nothing is sent.
package struct ServiceNotifier: Sendable {
  /// What a service manager sets for the process it started, and no child of ours may act on.
  package static let variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

  package enum State: Sendable, Equatable {
    /// Requests are answered.
    case ready
    /// The agent is on its way out.
    case stopping
    /// The configuration is read again, since this moment of CLOCK_MONOTONIC in microseconds; ``ready`` ends it.
    case reloading(monotonicMicroseconds: Int64)
    /// The agent is alive.
    case watchdog
    /// A start or stop under way takes longer: the next word comes within this many microseconds.
    case extendTimeout(microseconds: Int64)
    /// One line for `systemctl status`.
    case status(String)

    var text: String {
      switch self {
      case .ready: "READY=1"
      case .stopping: "STOPPING=1"
      case .reloading(let moment): "RELOADING=1\nMONOTONIC_USEC=\(moment)"
      case .watchdog: "WATCHDOG=1"
      case .extendTimeout(let span): "EXTEND_TIMEOUT_USEC=\(span)"
      // A line feed would begin another assignment.
      case .status(let line): "STATUS=" + String(line.map { $0.isNewline ? " " : $0 }.prefix(512))
      }
    }
  }

  /// An absolute path, or an abstract name that begins with `@`; nil: nobody listens.
  package let address: String?

  /// `environment["NOTIFY_SOCKET"]` decides; what is neither a path nor an abstract name is ignored.
  package init(environment: [String: String]) {
    let address = environment["NOTIFY_SOCKET"] ?? ""
    self.address = address.hasPrefix("/") || (address.hasPrefix("@") && address.utf8.count > 1) ? address : nil
  }

  /// Sends the states in one datagram, without waiting. False when there is nobody to tell or it could not be sent.
  @discardableResult package func notify(_ states: State...) -> Bool {
    guard let address, !states.isEmpty else { return false }
    var name = Array(address.utf8)
    let isAbstract = name.first == UInt8(ascii: "@")
    if isAbstract { name[0] = 0 }
    var target = sockaddr_un()
    guard name.count < MemoryLayout.size(ofValue: target.sun_path) else { return false }
    target.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: name) }
    // An abstract name ends where the length says, a path at its NUL.
    let length = MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1)

    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let message = Array(states.map(\.text).joined(separator: "\n").utf8)
    let sent = withUnsafePointer(to: &target) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(
          descriptor, message, message.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0,
          socklen_t(length))
      }
    }
    return sent == message.count
  }
}
