import AgentWire
import CLinux
import Glibc
import SystemFacts

/// Connects to the agent's socket, and trusts nothing there before it was looked at.
package struct SocketConnector {
  /// Longest wait for a place in the agent's queue of connections: a living agent empties it many times a second.
  package static let connectMilliseconds = 5_000

  let location: SocketLocation
  /// The effective user id: the only one the agent may have.
  let uid: UInt32

  /// Why a connection was not made.
  enum Refusal: Error {
    /// Nobody listens: an agent may be started there.
    case nobody(String)
    /// Somebody else may be there: nothing may be sent or started.
    case untrusted(String)
    case busy
    /// This process gets no socket: why.
    case noSocket(String)
    /// The file's mode keeps its own owner out; what to do about it.
    case closed(NextStep)
  }

  /// A connected descriptor whose other end runs as this user.
  func open(connectMilliseconds: Int = connectMilliseconds) throws(Refusal) -> Descriptor {
    guard let directory = LiveSystem.status(location.directory) else { throw .nobody("there is no such directory") }
    if let problem = location.problem(ofDirectory: directory, uid: uid) {
      throw .untrusted("its directory \(problem)")
    }
    guard directory.mode & 0o100 != 0 || uid == 0 || directory.owner != uid else {
      throw .closed(.run("chmod 700 \(PrintableText.escaped(ShellWord.quoted(location.directory)))"))
    }
    guard let file = LiveSystem.status(location.path) else { throw .nobody("there is no socket") }
    guard file.kind == .socket else { throw .untrusted("it is not a socket") }
    let socket = try Self.connect(location.path, connectMilliseconds)
    var peer = uid_t()
    var group = gid_t()
    var process = pid_t()
    guard clinux_peer_credentials(socket.number, &peer, &group, &process) == 0 else {
      throw .untrusted("the kernel does not tell who listens")
    }
    guard peer == uid else { throw .untrusted("another user (uid \(peer)) listens there") }
    return socket
  }

  private static func connect(_ path: String, _ connectMilliseconds: Int) throws(Refusal) -> Descriptor {
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw .noSocket(describe(errno: errno)) }
    let descriptor = Descriptor(number)
    // A full queue makes connect wait; this bounds the wait (unix(7)).
    var patience = timeval(tv_sec: connectMilliseconds / 1_000, tv_usec: connectMilliseconds % 1_000 * 1_000)
    setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    guard var address = socketAddress(path) else { throw .untrusted("the path is too long") }
    while true {
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      if result == 0 { return descriptor }
      switch errno {
      case EINTR: continue
      case ECONNREFUSED, ENOENT: throw .nobody("nobody listens")
      case EAGAIN: throw .busy
      case EACCES: throw .closed(.run("chmod 600 \(PrintableText.escaped(ShellWord.quoted(path)))"))
      default: throw .untrusted(describe(errno: errno))
      }
    }
  }
}

/// A Unix socket address, or nil when the path does not fit.
func socketAddress(_ path: String) -> sockaddr_un? {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let bytes = Array(path.utf8)
  guard bytes.count <= SocketLocation.greatestPathBytes else { return nil }
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
  return address
}
