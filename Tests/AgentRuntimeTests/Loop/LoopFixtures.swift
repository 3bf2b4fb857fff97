import Glibc
import Synchronization

@testable import AgentRuntime

/// A clock that only the test moves.
final class ManualClock: Sendable {
  private let time = Mutex(LoopTime(nanoseconds: 1_000_000_000_000))

  var now: LoopTime { time.withLock { $0 } }
  func advance(_ span: LoopSpan) { time.withLock { $0 = $0 + span } }
}

/// A loop on a thread of its own, whose time the test moves.
struct TestLoop: Sendable {
  let loop: ServingLoop
  private let clock: ManualClock

  init() throws {
    let clock = ManualClock()
    self.clock = clock
    loop = try ServingLoop.start { clock.now }
  }

  /// Does `body` on the loop, then lets it serve everything that is ready.
  @discardableResult
  func turn<Value: Sendable>(_ body: @escaping @Sendable (EventQueue) -> Value = { _ in }) async -> Value {
    let value = await loop.run(body)
    await withCheckedContinuation { continuation in
      loop.execute { queue in queue.atEndOfTurn { continuation.resume() } }
    }
    return value
  }

  func advance(_ span: LoopSpan) async {
    clock.advance(span)
    await turn()
  }
}

/// The caller's end of a connection. Reads only when it is asked what has come.
final class FarEnd: Sendable {
  let descriptor: Int32
  private let state = Mutex((bytes: [UInt8](), isEnded: false))

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Connects to a listening socket that has room in its backlog.
  convenience init(path: String) throws {
    self.init(try UnixSocket.make())
    guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw UnixSocket.Errno(errno) }
    try UnixSocket.withAddress(path) { connect(descriptor, $0, $1) }
  }

  deinit { close(descriptor) }

  /// Both ends of a connection, which never block. Through a narrow one at most 5,000 bytes are on their way.
  static func pair(isNarrow: Bool = false) throws -> (near: Int32, far: FarEnd) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw UnixSocket.Errno(errno) }
    var bytes: Int32 = 1
    if isNarrow { setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size)) }
    return (ends[0], FarEnd(ends[1]))
  }

  /// False unless the kernel takes everything.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }

  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Sends `text` as one message that carries a descriptor (SCM_RIGHTS of unix(7)).
  func send(_ text: String, passing passed: Int32) -> Bool {
    var bytes = Array(text.utf8)
    // A cmsghdr and one descriptor, aligned as CMSG_SPACE has it.
    var control = [UInt64](repeating: 0, count: 3)
    return bytes.withUnsafeMutableBytes { bytes in
      control.withUnsafeMutableBytes { control in
        control.storeBytes(of: MemoryLayout<cmsghdr>.size + MemoryLayout<Int32>.size, as: Int.self)
        control.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
        control.storeBytes(of: Int32(SCM_RIGHTS), toByteOffset: 12, as: Int32.self)
        control.storeBytes(of: passed, toByteOffset: 16, as: Int32.self)
        var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
        return withUnsafeMutablePointer(to: &part) { part in
          var message = msghdr()
          message.msg_iov = part
          message.msg_iovlen = 1
          message.msg_control = control.baseAddress
          message.msg_controllen = control.count
          return sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)) == bytes.count
        }
      }
    }
  }

  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }
  func stopReading() { shutdown(descriptor, Int32(SHUT_RD)) }
  /// To the other end the same as a close.
  func leave() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// What waits to be read.
  var unreadBytes: Int { unread(descriptor) }

  /// Everything that has come, read from the socket now.
  var text: String {
    state.withLock { state in
      var part = [UInt8](repeating: 0, count: 65_536)
      while !state.isEnded {
        let count = recv(descriptor, &part, part.count, Int32(MSG_DONTWAIT))
        if count > 0 {
          state.bytes += part[..<count]
        } else if count < 0, errno == EAGAIN {
          break
        } else {
          state.isEnded = true
        }
      }
      return String(decoding: state.bytes, as: UTF8.self)
    }
  }

  var lines: [String] { text.split(separator: "\n").map(String.init) }

  /// Whether all has come that ever will, as far as can be seen now.
  var isEnded: Bool {
    _ = text
    return state.withLock { $0.isEnded }
  }

  /// Whether the other end was closed. A process that another test starts holds a copy of every descriptor from its
  /// fork to its exec, so the end is waited for, 10 s at most.
  var wasClosed: Bool {
    for _ in 0..<1_000 where !isEnded {
      var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&wanted, 1, 10)
    }
    return isEnded
  }

  /// The lines once there are `count` of them, or no more can come.
  func waitForLines(_ count: Int) async -> [String] {
    _ = await text { $0.utf8.count { $0 == 0x0A } >= count }
    return lines
  }

  /// Everything once it is `count` bytes, or no more can come.
  func received(_ count: Int) async -> String { await text { $0.utf8.count >= count } }

  /// Everything, once the connection has ended.
  func received() async -> String { await text { _ in false } }

  private func text(once isEnough: (String) -> Bool) async -> String {
    while true {
      let now = text
      // Asked without reading: what came since would be waited for again.
      if isEnough(now) || state.withLock({ $0.isEnded }) { return now }
      await waitForMore()
    }
  }

  private func waitForMore() async {
    let descriptor = descriptor
    _ = await onOwnThread {
      var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&wanted, 1, -1)
    }
  }
}

/// Bytes that wait to be read from a socket.
func unread(_ descriptor: Int32) -> Int {
  var count: Int32 = 0
  return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
}
