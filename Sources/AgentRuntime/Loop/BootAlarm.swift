import CLinux
import Glibc

/// Calls at moments of boot time, which goes on while the machine is suspended, as an ``EventQueue``'s own time does not:
/// timerfd_create(2). Used on its loop only.
final class BootAlarm: DescriptorHandler {
  private struct Call {
    let id: UInt64
    let due: Double
    let work: () -> Void
  }

  private let descriptor: Int32
  /// The soonest is the last.
  private var calls: [Call] = []

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
    let index = calls.firstIndex { $0.due <= due } ?? calls.endIndex
    calls.insert(Call(id: id, due: due, work: work), at: index)
    if index == calls.count - 1 { arm() }
  }

  func cancel(_ id: UInt64) {
    guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
    calls.remove(at: index)
    if index == calls.count { arm() }
  }

  func isReady(_ readiness: Interest) {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    let now = SystemTime.bootSeconds()
    while let call = calls.last, call.due <= now {
      calls.removeLast()
      call.work()
    }
    arm()
  }

  /// Sets the kernel's timer to the soonest call, or off.
  private func arm() {
    var setting = itimerspec()
    if let due = calls.last?.due {
      // All zero would be off.
      let nanoseconds = max(1, Int64(due * 1_000_000_000))
      setting.it_value = timespec(
        tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
    timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
  }
}
