import Foundation
import Glibc
import Synchronization

/// A TCP server on loopback, one thread a connection, whose behaviour is a closure over the connected socket.
final class HostileServer: Sendable {
  let port: Int
  private let listener: Int32
  private let counters = Mutex((connections: 0, requests: [String]()))

  /// Connections accepted so far.
  var connections: Int { counters.withLock { $0.connections } }
  /// Heads and bodies of the requests that arrived whole, in order.
  var requests: [String] { counters.withLock { $0.requests } }
  var url: String { "http://127.0.0.1:\(port)/token" }

  struct NoSocket: Error {}

  init(_ behaviour: @escaping @Sendable (Connection) -> Void) throws {
    (listener, port) = try Self.listen(backlog: 64)
    Thread.detachNewThread { [listener] in
      while true {
        let socket = accept(listener, nil, nil)
        guard socket >= 0 else { return }
        self.counters.withLock { $0.connections += 1 }
        Thread.detachNewThread {
          behaviour(Connection(socket: socket, server: self))
          close(socket)
        }
      }
    }
  }

  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  fileprivate func record(_ request: String) { counters.withLock { $0.requests.append(request) } }

  /// A listening socket on a port of the kernel's choice; without a backlog it refuses every connection, and nobody else
  /// gets its port.
  static func listen(backlog: Int32?) throws -> (socket: Int32, port: Int) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, length) == 0 && backlog.map { Glibc.listen(listener, $0) } ?? 0 == 0
          && getsockname(listener, pointer, &length) == 0
      }
    }
    guard bound else { throw NoSocket() }
    return (listener, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// A client's socket to a port of loopback, connected or about to be.
  static func startConnecting(to port: Int, waiting: Bool = false) -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue) | (waiting ? 0 : Int32(SOCK_NONBLOCK.rawValue))
    let client = socket(AF_INET, kind, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(client, $0, size) }
    }
    return client
  }
}

struct Connection: Sendable {
  let socket: Int32
  let server: HostileServer

  /// Reads one request with its body (by Content-Length) and counts it; nil when the client left before.
  @discardableResult
  func readRequest() -> String? {
    var text = readHead()
    guard text.hasSuffix("\r\n\r\n") else { return nil }
    let fields = text.lowercased().components(separatedBy: "content-length: ")
    let length = fields.count > 1 ? Int(fields[1].prefix { $0.isNumber }) ?? 0 : 0
    for _ in 0..<length {
      guard let byte = readByte() else { return nil }
      text.append(Character(UnicodeScalar(byte)))
    }
    server.record(text)
    return text
  }

  /// Reads up to the empty line, byte by byte.
  func readHead() -> String {
    var text = ""
    while !text.hasSuffix("\r\n\r\n"), let byte = readByte() { text.append(Character(UnicodeScalar(byte))) }
    return text
  }

  private func readByte() -> UInt8? {
    var byte: UInt8 = 0
    return recv(socket, &byte, 1, 0) == 1 ? byte : nil
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let length = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard length > 0 else { return }
      rest = rest.dropFirst(length)
    }
  }

  /// Blocks until the client hangs up.
  func hang() { while readByte() != nil {} }

  /// Ends the connection with a reset instead of an orderly close.
  func reset() {
    var now = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
  }

  /// Copies bytes both ways until both sides are done, as a proxy does after CONNECT.
  func relay(to port: Int) {
    let other = HostileServer.startConnecting(to: port, waiting: true)
    defer { close(other) }
    send("HTTP/1.1 200 Connection established\r\n\r\n")
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      var polled = [
        pollfd(fd: socket, events: Int16(POLLIN), revents: 0), pollfd(fd: other, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&polled, 2, -1)
      for (from, to) in [(0, 1), (1, 0)] where polled[from].revents != 0 {
        let length = recv(polled[from].fd, &buffer, buffer.count, 0)
        guard length > 0 else { return }
        _ = Glibc.send(polled[to].fd, buffer, length, Int32(MSG_NOSIGNAL))
      }
    }
  }
}
