import AgentCore
import CLinux
import Glibc

/// What a descriptor is waited for.
struct Interest: OptionSet, Sendable {
  let rawValue: UInt32

  static let reading = Interest(rawValue: EPOLLIN.rawValue)
  static let writing = Interest(rawValue: EPOLLOUT.rawValue)
  /// Told whether it is waited for or not: the other end is closed for both directions, or the connection is broken.
  static let ended = Interest(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
}

/// Told what its descriptor is ready for.
protocol DescriptorHandler: AnyObject {
  /// A hint: what is tried now may still have to wait.
  func isReady(_ readiness: Interest)
}

/// Who waits for which descriptor on one thread, and when somebody wants to be called: epoll(7) and a heap of timers.
/// Used by its own thread only, which for a test is the test's.
package final class EventQueue {
  /// A call that is due once; see ``EventQueue/schedule(at:_:)``.
  package final class Timer {
    /// Nil once it was called or cancelled.
    fileprivate var work: (() -> Void)?

    fileprivate init(work: @escaping () -> Void) { self.work = work }
  }

  /// Descriptors that are served in one turn, in about a millisecond; the others wait for the next.
  static let descriptorsInTurn = 256

  /// The time at which this turn began.
  package private(set) var now: LoopTime

  private(set) var readyInTurn = 0
  private(set) var turnNumber: UInt64 = 0

  private struct Entry {
    var handler: (any DescriptorHandler)?
    /// Counts who had the descriptor's number, so that no event of a closed one reaches the next.
    var generation: UInt32 = 0
  }

  private let epoll: Int32
  private let time: () -> LoopTime
  private let ready = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: descriptorsInTurn)
  private var entries: [Entry] = []
  private var timers = DeadlineHeap<LoopTime, Timer>()
  /// Those that are neither called nor cancelled.
  private(set) var timerCount = 0
  /// The others too.
  var timersKept: Int { timers.count }
  /// The earliest of them: looked at in every turn.
  private var nextDue: LoopTime?
  private var endOfTurn: [() -> Void] = []

  /// Nil when the process has no descriptor left, with errno set.
  package init?(time: @escaping () -> LoopTime = LoopTime.now) {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    self.time = time
    now = time()
    guard epoll >= 0 else { return nil }
  }

  deinit {
    if epoll >= 0 { _ = Glibc.close(epoll) }
    ready.deallocate()
  }

  // MARK: Descriptors

  /// Calls `handler` whenever `descriptor` is ready for what it is waited for. False, with errno set, when the kernel
  /// cannot wait for it.
  func add(_ descriptor: Int32, _ interest: Interest, _ handler: any DescriptorHandler) -> Bool {
    let index = Int(descriptor)
    while entries.count <= index { entries.append(Entry()) }
    entries[index].generation &+= 1
    guard control(EPOLL_CTL_ADD, descriptor, interest) else { return false }
    entries[index].handler = handler
    return true
  }

  /// Waits for something else, or for the same again: what it is ready for now is reported in the next turn.
  func change(_ descriptor: Int32, to interest: Interest) { _ = control(EPOLL_CTL_MOD, descriptor, interest) }

  /// Forgets the descriptor and closes it. `isShared`: another process has the open file too, which would keep its place in
  /// epoll.
  func close(_ descriptor: Int32, isShared: Bool = false) {
    if entries.indices.contains(Int(descriptor)) { entries[Int(descriptor)].handler = nil }
    var event = epoll_event()
    if isShared { epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event) }
    _ = Glibc.close(descriptor)
  }

  private func control(_ operation: Int32, _ descriptor: Int32, _ interest: Interest) -> Bool {
    var event = epoll_event()
    event.events = interest.rawValue
    event.data.u64 = UInt64(entries[Int(descriptor)].generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
    return epoll_ctl(epoll, operation, descriptor, &event) == 0
  }

  // MARK: Time

  /// Calls `work` once when `time` has come, unless the timer is cancelled before.
  package func schedule(at time: LoopTime, _ work: @escaping () -> Void) -> Timer {
    let timer = Timer(work: work)
    timers.add(timer, due: time)
    timerCount += 1
    nextDue = min(nextDue ?? time, time)
    return timer
  }

  package func cancel(_ timer: Timer) {
    guard timer.work != nil else { return }
    timer.work = nil
    timerCount -= 1
    timers.compact(living: timerCount) { timer, _ in timer.work != nil }
    lookForNext()
  }

  private func lookForNext() {
    timers.dropDead { timer, _ in timer.work == nil }
    nextDue = timers.soonest
  }

  /// Calls `work` when every descriptor that is ready in this turn has been served.
  func atEndOfTurn(_ work: @escaping () -> Void) { endOfTurn.append(work) }

  // MARK: Turning

  /// Serves what is ready and what is due. With `waits` it sleeps until there is something.
  package func turn(waits: Bool) {
    let count = epoll_wait(epoll, ready.baseAddress, Int32(ready.count), waits ? patienceMilliseconds : 0)
    now = time()
    turnNumber &+= 1
    readyInTurn = max(0, Int(count))
    // A signal that came in between is somebody else's.
    for index in 0..<readyInTurn {
      let event = ready[index]
      let entry = entries[Int(UInt32(truncatingIfNeeded: event.data.u64))]
      guard entry.generation == UInt32(event.data.u64 >> 32) else { continue }
      entry.handler?.isReady(Interest(rawValue: event.events))
    }
    if let nextDue, nextDue <= now { callDue() }
    while !endOfTurn.isEmpty {
      let work = endOfTurn
      endOfTurn.removeAll(keepingCapacity: true)
      for one in work { one() }
    }
  }

  private var patienceMilliseconds: Int32 {
    guard let nextDue else { return -1 }
    // What this turn has taken since comes on top.
    return (nextDue - now).roundedUpMilliseconds
  }

  private func callDue() {
    // What they set is for the next turn, though it be due at once.
    var due: [Timer] = []
    while let (timer, _) = timers.takeDue(at: now) { due.append(timer) }
    for timer in due {
      // One of them may have cancelled another.
      guard let work = timer.work else { continue }
      timer.work = nil
      timerCount -= 1
      work()
    }
    lookForNext()
  }
}
