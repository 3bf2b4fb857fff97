import AgentWire
import CLinux
import Glibc
import Testing

@testable import AgentRuntime

/// Keeps what it was told, and does what the test wants then.
private final class Recorder: DescriptorHandler {
  private(set) var told: [Interest] = []
  var whenReady: () -> Void = {}

  func isReady(_ readiness: Interest) {
    told.append(readiness)
    whenReady()
  }
}

@Suite("The event queue")
struct EventQueueTests {
  private let clock = ManualClock()
  private let queue: EventQueue
  private let recorder = Recorder()

  init() throws {
    let clock = clock
    queue = try #require(EventQueue { clock.now })
  }

  @Test("A descriptor that is ready is told in every turn until it is not any more")
  func reading() throws {
    let (near, far) = try FarEnd.pair()
    #expect(queue.add(near, .reading, recorder))
    queue.turn(waits: false)
    #expect(recorder.told.isEmpty && queue.readyInTurn == 0)
    far.send("x")
    for turn in 1...2 {
      queue.turn(waits: true)
      #expect(recorder.told.count == turn && queue.readyInTurn == 1)
    }
    #expect(recorder.told == [.reading, .reading])
    var byte: UInt8 = 0
    #expect(recv(near, &byte, 1, 0) == 1)
    queue.turn(waits: false)
    #expect(recorder.told.count == 2)
    queue.close(near)
    #expect(far.wasClosed)
  }

  @Test("It is told what it is waited for and nothing else, but an end always")
  func interest() throws {
    let (near, far) = try FarEnd.pair()
    far.send("x")
    #expect(queue.add(near, .writing, recorder))
    queue.turn(waits: false)
    #expect(recorder.told == [.writing])
    queue.change(near, to: [])
    queue.turn(waits: false)
    #expect(recorder.told.count == 1)
    queue.change(near, to: [.reading, .writing])
    queue.turn(waits: false)
    #expect(recorder.told.last == [.reading, .writing])
    queue.change(near, to: [])
    far.leave()
    queue.turn(waits: false)
    #expect(recorder.told.count == 3)
    #expect(recorder.told.last?.isDisjoint(with: .ended) == false)
    queue.close(near)
  }

  @Test("What the kernel cannot wait for is refused with the errno")
  func refused() throws {
    #expect(!queue.add(999, .reading, recorder))
    #expect(errno == EBADF)
    let file = open("/etc/passwd", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    #expect(!queue.add(file, .reading, recorder))
    #expect(errno == EPERM)
  }

  @Test("No event of a closed descriptor reaches the next that has its number")
  func staleEvent() throws {
    // The kernel gives the lowest numbers first, and all tests together hold more than a thousand: only near the limit is
    // a number that is given back free.
    var limit = rlimit()
    try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    let highest = Int32(min(limit.rlim_cur, 20_000)) - 8
    func raised(_ descriptor: Int32) throws -> Int32 {
      defer { close(descriptor) }
      let high = fcntl(descriptor, F_DUPFD_CLOEXEC, highest)
      return try #require(high >= 0 ? high : nil)
    }
    let (left, right, next) = (try FarEnd.pair(), try FarEnd.pair(), try FarEnd.pair())
    let numbers = (try raised(left.near), try raised(right.near))
    let (first, second, successor) = (Recorder(), Recorder(), Recorder())
    #expect(queue.add(numbers.0, .reading, first) && queue.add(numbers.1, .reading, second))
    left.far.send("x")
    right.far.send("x")
    // Whoever is served first closes the other, whose number goes to a new one.
    let queue = queue
    var reused: Int32 = -1
    func closesOther(_ other: Int32) -> () -> Void {
      {
        guard reused < 0 else { return }
        queue.close(other)
        reused = fcntl(next.near, F_DUPFD_CLOEXEC, other)
        #expect(reused == other)
        #expect(queue.add(reused, .reading, successor))
      }
    }
    first.whenReady = closesOther(numbers.1)
    second.whenReady = closesOther(numbers.0)
    queue.turn(waits: false)
    #expect(queue.readyInTurn == 2)
    #expect(first.told.count + second.told.count == 1)
    #expect(successor.told.isEmpty)
    next.far.send("x")
    queue.turn(waits: false)
    #expect(successor.told == [.reading])
    close(next.near)
    queue.close(numbers.0)
    queue.close(numbers.1)
  }

  @Test("A handler that is closed in the same turn is told nothing more")
  func closedInTurn() throws {
    let (left, right) = (try FarEnd.pair(), try FarEnd.pair())
    let (first, second) = (Recorder(), Recorder())
    #expect(queue.add(left.near, .reading, first) && queue.add(right.near, .reading, second))
    left.far.send("x")
    right.far.send("x")
    let queue = queue
    first.whenReady = { queue.close(right.near) }
    second.whenReady = { queue.close(left.near) }
    queue.turn(waits: false)
    #expect(first.told.count + second.told.count == 1)
    queue.turn(waits: false)
    #expect(first.told.count + second.told.count == 2)
    queue.close(first.told.isEmpty ? right.near : left.near)
  }

  @Test("A listening socket that others hold too is waited for no more once it is closed")
  func sharedListener() throws {
    let folder = try ScratchFolder()
    let path = folder.path + "/agent.sock"
    let socket = try ListeningSocket.open(at: SocketLocation(path: path, source: .environment), uid: getuid())
    let kept = dup(socket.descriptor)
    defer { close(kept) }
    #expect(queue.add(socket.descriptor, .reading, recorder))
    let caller = try FarEnd(path: path)
    queue.turn(waits: false)
    #expect(queue.readyInTurn == 1)
    queue.close(socket.descriptor, isShared: true)
    queue.turn(waits: false)
    #expect(queue.readyInTurn == 0 && recorder.told.count == 1)
    #expect(!caller.isEnded)
  }

  // MARK: Time

  @Test("Timers are called once, when their time has come and not before, unless they are cancelled")
  func timers() {
    var called: [Int] = []
    for second in [3, 1, 2] {
      _ = queue.schedule(at: queue.now + .seconds(Int64(second))) { called.append(second) }
    }
    let cancelled = queue.schedule(at: queue.now + .seconds(1)) { called.append(0) }
    queue.cancel(cancelled)
    queue.turn(waits: false)
    clock.advance(.milliseconds(999))
    queue.turn(waits: false)
    #expect(called == [])
    clock.advance(.milliseconds(1))
    queue.turn(waits: true)
    #expect(called == [1])
    queue.turn(waits: false)
    #expect(called == [1])
    clock.advance(.seconds(5))
    queue.turn(waits: true)
    #expect(called.sorted() == [1, 2, 3])
  }

  @Test("Of two that are due together the first can cancel the second")
  func cancelsAnother() {
    var (called, timers) = (0, [EventQueue.Timer]())
    let queue = queue
    for _ in 0..<2 {
      timers.append(
        queue.schedule(at: queue.now) {
          called += 1
          for timer in timers { queue.cancel(timer) }
        })
    }
    queue.turn(waits: true)
    queue.turn(waits: false)
    #expect(called == 1)
  }

  @Test("Of a crowd that is set and cancelled, the dead take no room, and the living come in order")
  func crowd() {
    var called: [Int64] = []
    for second: Int64 in 1...10_000 {
      let timer = queue.schedule(at: queue.now + .seconds(second)) { called.append(second) }
      if !second.isMultiple(of: 1_000) { queue.cancel(timer) }
    }
    #expect(queue.timerCount == 10)
    #expect(queue.timersKept < 100)
    for _ in 1...10 {
      clock.advance(.seconds(1_000))
      queue.turn(waits: false)
    }
    #expect(called == (1...10).map { $0 * 1_000 })
  }

  @Test("A timer set by another that is due at once comes in the next turn, without waiting")
  func setsAnother() {
    var called = 0
    let queue = queue
    _ = queue.schedule(at: queue.now) {
      called += 1
      _ = queue.schedule(at: queue.now) { called += 1 }
    }
    queue.turn(waits: true)
    #expect(called == 1)
    queue.turn(waits: true)
    #expect(called == 2)
  }

  @Test("One turn that waits is enough for the next timer: it wakes when that is due, not before")
  func waitsForTimer() async throws {
    let isCalled = await onOwnThread {
      guard let queue = EventQueue() else { return false }
      var isCalled = false
      _ = queue.schedule(at: queue.now + .milliseconds(3)) { isCalled = true }
      queue.turn(waits: true)
      return isCalled
    }
    #expect(isCalled == true)
  }

  @Test("The time stands still during a turn")
  func now() throws {
    let (near, far) = try FarEnd.pair()
    let (queue, clock) = (queue, clock)
    var times: [LoopTime] = []
    recorder.whenReady = {
      times.append(queue.now)
      clock.advance(.seconds(1))
    }
    #expect(queue.add(near, .reading, recorder))
    queue.atEndOfTurn { times.append(queue.now) }
    far.send("x")
    clock.advance(.seconds(1))
    let before = clock.now
    queue.turn(waits: false)
    #expect(times == [before, before])
    queue.close(near)
  }

  @Test("The end of a turn comes after everything else in it, and what is added there belongs to it")
  func endOfTurn() throws {
    var order: [String] = []
    let queue = queue
    queue.atEndOfTurn {
      order.append("end")
      queue.atEndOfTurn { order.append("added") }
    }
    _ = queue.schedule(at: queue.now) { order.append("timer") }
    let (near, far) = try FarEnd.pair()
    recorder.whenReady = { order.append("ready") }
    #expect(queue.add(near, .reading, recorder))
    far.send("x")
    queue.turn(waits: false)
    #expect(order == ["ready", "timer", "end", "added"])
    queue.close(near)
    queue.turn(waits: false)
    #expect(order.count == 4)
  }

  @Test(
    "Waiting times are rounded up to whole milliseconds, and none is below 0",
    arguments: [
      (0, 0), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2), (-1, 0), (Int64.min, 0), (Int64.max, Int32.max),
    ] as [(Int64, Int32)])
  func rounding(_ nanoseconds: Int64, _ milliseconds: Int32) {
    #expect(LoopSpan(nanoseconds: nanoseconds).roundedUpMilliseconds == milliseconds)
  }
}
