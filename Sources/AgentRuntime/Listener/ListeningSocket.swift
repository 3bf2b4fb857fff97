package import AgentWire
import CLinux
import Glibc

/// A listening socket, before a listener serves it.
package struct ListeningSocket: Sendable {
  package let descriptor: Int32
  /// Where it was bound by us; nil for an inherited one, which belongs to whoever made it.
  package let ownPath: String?
  private let identity: FileIdentity?

  private struct FileIdentity: Sendable, Equatable {
    var device: UInt
    var inode: UInt
  }

  /// Binds and listens at `location` as `uid`.
  ///
  /// A default directory is made with mode 0700; each directory is checked. What another agent serves is left alone; a
  /// socket that nobody serves is removed. A lock in the directory keeps two agents that start at once from removing
  /// each other's socket. Throws ``ListenerError``.
  package static func open(
    at location: SocketLocation, uid: UInt32, backlog: Int32 = ListenerLimits().backlog
  ) throws(ListenerError) -> ListeningSocket {
    let path = location.path
    guard path.utf8.count <= SocketLocation.greatestPathBytes else {
      throw .pathTooLong(path: path, limitBytes: SocketLocation.greatestPathBytes)
    }
    try prepareDirectory(of: location, uid: uid)
    let lock = try lockDirectory(location.directory)
    defer { close(lock) }
    try removeStaleSocket(at: path, uid: uid)

    let descriptor: Int32
    do { descriptor = try UnixSocket.make() } catch { throw .failed(call: "socket", path: path, errno: error.code) }
    do throws(ListenerError) {
      // Before bind: the file then never has another mode, whatever the umask.
      guard fchmod(descriptor, 0o600) == 0 else { throw .failed(call: "fchmod", path: path, errno: errno) }
      do { try UnixSocket.withAddress(path) { bind(descriptor, $0, $1) } } catch {
        throw .failed(call: "bind", path: path, errno: error.code)
      }
      guard listen(descriptor, backlog) == 0 else { throw .failed(call: "listen", path: path, errno: errno) }
    } catch {
      close(descriptor)
      throw error
    }
    return ListeningSocket(descriptor: descriptor, ownPath: path, identity: fileIdentity(path))
  }

  /// Takes over a listening socket that another process made, and sets it to close on exec.
  ///
  /// Throws ``ListenerError/unsuitableDescriptor(_:reason:)`` unless it is a listening Unix stream socket.
  package static func adopt(_ descriptor: Int32) throws(ListenerError) -> ListeningSocket {
    func refuse(_ reason: String) -> ListenerError { .unsuitableDescriptor(descriptor, reason: reason) }
    guard fcntl(descriptor, F_GETFD) >= 0 else { throw refuse("is not open") }
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw refuse("cannot be set to close on exec") }
    guard let domain = UnixSocket.option(SO_DOMAIN, of: descriptor) else { throw refuse("is no socket") }
    guard domain == AF_UNIX else { throw refuse("is no Unix socket") }
    guard UnixSocket.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue) else {
      throw refuse("is no stream socket")
    }
    guard UnixSocket.option(SO_ACCEPTCONN, of: descriptor) == 1 else { throw refuse("does not listen") }
    return ListeningSocket(descriptor: descriptor, ownPath: nil, identity: nil)
  }

  private init(descriptor: Int32, ownPath: String?, identity: FileIdentity?) {
    self.descriptor = descriptor
    self.ownPath = ownPath
    self.identity = identity
  }

  /// Removes the socket's file if it is ours and still the one that was bound.
  func removeFile() {
    guard let ownPath, let identity, Self.fileIdentity(ownPath) == identity else { return }
    unlink(ownPath)
  }

  private static func prepareDirectory(of location: SocketLocation, uid: UInt32) throws(ListenerError) {
    let directory = location.directory
    // What the user named is used or fails; the defaults are made.
    if location.source != .environment, mkdir(directory, 0o700) != 0, errno != EEXIST {
      throw .failed(call: "mkdir", path: directory, errno: errno)
    }
    guard let found = SocketLocation.fileStatus(directory) else {
      throw .failed(call: "lstat", path: directory, errno: errno)
    }
    if let reason = location.problem(ofDirectory: found, uid: uid) {
      throw .unsafeDirectory(path: directory, reason: "\(reason)")
    }
  }

  private static func lockDirectory(_ directory: String) throws(ListenerError) -> Int32 {
    let path = (directory == "/" ? "" : directory) + "/agent.lock"
    let lock = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { throw .failed(call: "open", path: path, errno: errno) }
    guard clinux_try_lock_exclusive(lock) == 0 else {
      let code = errno
      close(lock)
      if code == EAGAIN || code == EACCES { throw .beingOpened(path: directory) }
      throw .failed(call: "fcntl", path: path, errno: code)
    }
    return lock
  }

  private static func removeStaleSocket(at path: String, uid: UInt32) throws(ListenerError) {
    guard let found = SocketLocation.fileStatus(path) else { return }
    guard found.kind == .socket, found.owner == uid else { throw .occupied(path: path) }
    let probe: Int32
    do { probe = try UnixSocket.make() } catch { throw .failed(call: "socket", path: path, errno: error.code) }
    defer { close(probe) }
    // A full backlog must not hold the start back: it means that somebody serves it.
    _ = fcntl(probe, F_SETFL, O_NONBLOCK)
    do {
      try UnixSocket.withAddress(path) { connect(probe, $0, $1) }
    } catch  where error.code == ECONNREFUSED {
      return try unlinkStale(path)
    } catch  where error.code == ENOENT {
      return
    } catch  where error.code == EAGAIN {
      throw .alreadyServed(path: path)
    } catch {
      throw .failed(call: "connect", path: path, errno: error.code)
    }
    guard isAbandoned(probe) else { throw .alreadyServed(path: path) }
    try unlinkStale(path)
  }

  /// Whether the process that listens has ended: one that it started holds its socket open until that becomes a program of
  /// its own, and nobody accepts what waits there.
  private static func isAbandoned(_ probe: Int32) -> Bool {
    var (user, group, listener) = (uid_t(), gid_t(), pid_t())
    guard clinux_peer_credentials(probe, &user, &group, &listener) == 0, listener > 0 else { return false }
    return Glibc.kill(listener, 0) != 0 && errno == ESRCH
  }

  private static func unlinkStale(_ path: String) throws(ListenerError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw .failed(call: "unlink", path: path, errno: errno) }
  }

  private static func fileIdentity(_ path: String) -> FileIdentity? {
    var found = stat()
    guard lstat(path, &found) == 0 else { return nil }
    return FileIdentity(device: UInt(found.st_dev), inode: UInt(found.st_ino))
  }
}
