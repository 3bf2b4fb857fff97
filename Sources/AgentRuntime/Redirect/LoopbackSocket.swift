import AgentCore
import AgentWire
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
    let place = "port \(port) on \(host)"
    switch code {
    case EADDRINUSE:
      // One of the same user may end before the address is pasted, and then anybody can have the port.
      let who = holder.map { "a program of another user (uid \($0))" } ?? "another program"
      return RedirectListenerError("\(place) is in use by \(who)", isTaken: true)
    case EACCES:
      return RedirectListenerError(
        "\(place) may not be listened on by you", isForOthers: false, hint: "register a port above 1023: --port N")
    case EADDRNOTAVAIL:
      return RedirectListenerError(
        "this computer has no address \(host)", isForOthers: false, hint: "use 127.0.0.1 in the redirect URI")
    default:
      return RedirectListenerError(
        "cannot listen on \(place): \(String(cString: strerror(code)))", hint: .run("oauthctl doctor"))
    }
  }
}
