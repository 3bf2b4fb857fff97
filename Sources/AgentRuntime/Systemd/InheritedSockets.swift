import Glibc

/// A socket that the process which started us left open (sd_listen_fds(3)).
package struct InheritedSocket: Sendable, Equatable {
  package var descriptor: Int32
  /// The unit's `FileDescriptorName`, `unknown` where there is none.
  package var name: String

  package init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
  }
}

/// The sockets that come with LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES.
package enum InheritedSockets {
  package static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
  /// The first inherited descriptor (SD_LISTEN_FDS_START).
  static let firstDescriptor: Int32 = 3
  /// The most that are taken.
  static let limit = 64

  /// Reads the variables. Empty when there are none, or when they are meant for another process: they are inherited by
  /// children of whoever they were set for. Throws ``ListenerError/malformedEnvironment(_:)``.
  package static func parse(_ environment: [String: String], pid: Int32) throws(ListenerError) -> [InheritedSocket] {
    guard let owner = environment["LISTEN_PID"], let count = environment["LISTEN_FDS"] else { return [] }
    guard let owner = number(owner) else { throw .malformedEnvironment("LISTEN_PID is no number") }
    guard owner == Int(pid) else { return [] }
    guard let count = number(count), count <= limit else {
      throw .malformedEnvironment("LISTEN_FDS is no number from 0 to \(limit)")
    }
    var names: [String]?
    if let list = environment["LISTEN_FDNAMES"] {
      let found = list.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard found.count == count || (count == 0 && list.isEmpty) else {
        throw .malformedEnvironment("LISTEN_FDNAMES has \(found.count) names for \(count) sockets")
      }
      names = found
    }
    return (0..<count).map { index in
      InheritedSocket(descriptor: firstDescriptor + Int32(index), name: names?[index] ?? "unknown")
    }
  }

  /// Reads the variables and takes them out of the environment, so that no child acts on them; each descriptor is set
  /// to close on exec. To be called once, before there are other threads.
  ///
  /// Throws ``ListenerError/malformedEnvironment(_:)``.
  package static func take() throws(ListenerError) -> [InheritedSocket] {
    var environment: [String: String] = [:]
    for name in variables {
      if let value = getenv(name) { environment[name] = String(cString: value) }
      unsetenv(name)
    }
    let sockets = try parse(environment, pid: getpid())
    for socket in sockets { _ = fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC) }
    return sockets
  }

  private static func number(_ text: String) -> Int? {
    guard (1...10).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }
}
