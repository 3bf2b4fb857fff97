import CLinux
import Glibc
import Synchronization

/// The one thread that serves callers: it turns an ``EventQueue`` and does in between what other threads ask for. It lives
/// as long as the process.
///
/// Why not NIO's: docs/performance.md, "An event loop of our own".
package final class ServingLoop: Sendable {
  /// Something to be done on the loop's thread. Only there is the queue at hand: it cannot leave it.
  package typealias Work = @Sendable (EventQueue) -> Void

  private struct Inbox {
    var work: [Work] = []
    /// The thread has been woken for it.
    var isTold = false
  }

  /// Pieces of work that are done in one turn; the others wait for the next, so that descriptors are served in between.
  static let workInTurn = 64
  /// As the thread shows in top(1) and /proc.
  package static let threadName = "serving"

  private let inbox = Mutex(Inbox())
  private let bell: Int32

  private init(bell: Int32) { self.bell = bell }

  /// Starts the thread. Throws the errno when the system has no descriptors or threads left. `time` is the clock's, but
  /// for tests.
  package static func start(
    time: @escaping @Sendable () -> LoopTime = LoopTime.now
  ) throws(UnixSocket.Errno) -> ServingLoop {
    let bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard bell >= 0 else { throw UnixSocket.Errno(errno) }
    let loop = ServingLoop(bell: bell)
    guard let queue = EventQueue(time: time), queue.add(bell, .reading, InboxHandler(loop: loop, queue: queue)) else {
      let code = errno
      close(bell)
      throw UnixSocket.Errno(code)
    }
    guard startThread(name: threadName, stackBytes: 512 << 10, { while true { queue.turn(waits: true) } }) else {
      close(bell)
      throw UnixSocket.Errno(EAGAIN)
    }
    return loop
  }

  /// Does `work` on the loop's thread, in the order of the calls.
  package func execute(_ work: @escaping Work) {
    let mustTell = inbox.withLock { inbox in
      inbox.work.append(work)
      defer { inbox.isTold = true }
      return !inbox.isTold
    }
    var one: UInt64 = 1
    if mustTell { _ = write(bell, &one, MemoryLayout<UInt64>.size) }
  }

  /// What `body` returns on the loop's thread.
  @discardableResult
  package func run<Value: Sendable>(_ body: @escaping @Sendable (EventQueue) -> Value) async -> Value {
    await withCheckedContinuation { continuation in execute { continuation.resume(returning: body($0)) } }
  }

  /// Everything that was given. The bell rings on while some of it is left to do.
  private func takeWork() -> [Work] {
    inbox.withLock { inbox in
      defer { inbox.work = [] }
      return inbox.work
    }
  }

  /// Silences the bell until more is given, unless that has happened meanwhile.
  private func silence() {
    inbox.withLock { inbox in
      guard inbox.work.isEmpty else { return }
      var count: UInt64 = 0
      _ = read(bell, &count, MemoryLayout<UInt64>.size)
      inbox.isTold = false
    }
  }

  private final class InboxHandler: DescriptorHandler {
    private let loop: ServingLoop
    private unowned let queue: EventQueue
    /// The next is the last.
    private var work: [Work] = []

    init(loop: ServingLoop, queue: EventQueue) {
      self.loop = loop
      self.queue = queue
    }

    func isReady(_ readiness: Interest) {
      // What is given from here on is for the next turn.
      if work.isEmpty { work = loop.takeWork().reversed() }
      for _ in 0..<ServingLoop.workInTurn {
        guard let next = work.popLast() else { break }
        next(queue)
      }
      guard work.isEmpty else { return }
      // Nor is the room kept that a crowd's needed.
      work = []
      loop.silence()
    }
  }
}
