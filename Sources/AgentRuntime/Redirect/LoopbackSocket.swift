import AgentCore
import Glibc

/// A socket that listens on a loopback address, for a helper to take connections from.
struct LoopbackSocket: Sendable {
  let descriptor: Int32
  let end: SocketEnd

  /// The errno of the call that failed.
  struct Failure: Error { var code: Int32 }

  /// Nil for what is no loopback address.
  static func end(host: String, port: Int) -> SocketEnd? {
    guard host == "::1" || host.hasPrefix("127.") else { return nil }
    return SocketEnd(host: host, port: port)
  }

  /// Binds `end`, or with port 0 any free one, and listens.
  static func open(_ end: SocketEnd, backlog: Int32) throws(Failure) -> LoopbackSocket {
    let family = end.isIPv4 ? AF_INET : AF_INET6
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(code: errno) }
    // A fixed port may be bound again right after a login; a socket that listens there still keeps it.
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    guard end.withAddress({ bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, backlog) == 0,
      let bound = SocketEnd(bound: descriptor)
    else {
      let code = errno
      Glibc.close(descriptor)
      throw Failure(code: code)
    }
    return LoopbackSocket(descriptor: descriptor, end: bound)
  }

  func close() { Glibc.close(descriptor) }

  /// Why `open` failed, in words; `holder` is the other user who has the port.
  static func refusal(_ code: Int32, host: String, port: Int, holder: UInt32?) -> RedirectListenerError {
    let message =
      switch code {
      case EADDRINUSE:
        if let holder {
          "port \(port) on \(host) is in use by a program of another user (uid \(holder)); choose another port (--port)"
        } else {
          "port \(port) on \(host) is in use by another program; stop it, or choose another port (--port)"
        }
      case EACCES: "port \(port) on \(host) needs more rights; choose one above 1023 (--port)"
      case EADDRNOTAVAIL: "this computer has no address \(host); use 127.0.0.1 in the redirect URI"
      default: "cannot listen on \(host) port \(port): \(String(cString: strerror(code)))"
      }
    return RedirectListenerError(message, isTaken: code == EADDRINUSE)
  }
}
