import AgentCore
import CLinux
import Glibc
import SystemFacts

/// Calls at moments of boot time, which goes on while the machine is suspended, as an ``EventQueue``'s own time does not:
/// timerfd_create(2). Used on its loop only.
final class BootAlarm: DescriptorHandler {
  private let descriptor: Int32
  /// What is called, by its number; the others of `dues` are cancelled.
  private var calls: [UInt64: (due: Double, work: () -> Void)] = [:]
  private var dues = DeadlineHeap<Double, UInt64>()
  /// What the kernel's timer is set to; nil: off.
  private var armed: Double?

  /// Nil when the process has no descriptor left, with errno set. It lives as long as the queue.
  init?(queue: EventQueue) {
    descriptor = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
    guard descriptor >= 0, queue.add(descriptor, .reading, self) else {
      let code = errno
      if descriptor >= 0 { close(descriptor) }
      errno = code
      return nil
    }
  }

  /// Calls that are not due yet.
  var count: Int { calls.count }

  /// Calls `work` once, when CLOCK_BOOTTIME is `due` seconds or later, unless `id` is cancelled before.
  func set(_ id: UInt64, due: Double, _ work: @escaping () -> Void) {
    calls[id] = (due, work)
    dues.add(id, due: due)
    arm()
  }

  func cancel(_ id: UInt64) {
    guard calls.removeValue(forKey: id) != nil else { return }
    dues.compact(living: calls.count, isLiving)
    arm()
  }

  private func isLiving(_ id: UInt64, _ due: Double) -> Bool { calls[id]?.due == due }

  func isReady(_ readiness: Interest) {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    armed = nil
    let now = BootClock.seconds()
    while let (id, due) = dues.takeDue(at: now) {
      if isLiving(id, due) { calls.removeValue(forKey: id)?.work() }
    }
    arm()
  }

  /// Sets the kernel's timer to the soonest call, or off.
  private func arm() {
    dues.dropDead { !isLiving($0, $1) }
    guard dues.soonest != armed else { return }
    armed = dues.soonest
    var setting = itimerspec()
    if let due = armed {
      // All zero would be off.
      let nanoseconds = max(1, Int64(due * 1_000_000_000))
      setting.it_value = timespec(
        tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
    timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
  }
}
