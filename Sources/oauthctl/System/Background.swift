import Glibc

/// One blocking piece of work on a thread of its own; a descriptor tells when it is done, so that it can be polled
/// beside others.
final class Background<Value: Sendable>: @unchecked Sendable {
  /// Readable once `value` is there.
  let doneDescriptor: Int32
  private let signalDescriptor: Int32
  private let work: @Sendable () -> Value
  // Written by the thread before it writes the pipe, read after the pipe was read: the pipe orders the two.
  private var result: Value?

  /// Nil when the system gives no pipe or thread.
  init?(_ work: @escaping @Sendable () -> Value) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    doneDescriptor = ends[0]
    signalDescriptor = ends[1]
    self.work = work
    var thread = pthread_t()
    let retained = Unmanaged.passRetained(self as AnyObject)
    let status = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        (Unmanaged<AnyObject>.fromOpaque(argument).takeRetainedValue() as? any BackgroundWork)?.perform()
        return nil
      }, retained.toOpaque())
    guard status == 0 else {
      retained.release()
      close(ends[0])
      close(ends[1])
      return nil
    }
    pthread_detach(thread)
  }

  /// Waits for the end of the work.
  func value() -> Value? {
    _ = FileBytes.readSome(from: doneDescriptor, limit: 1)
    return result
  }
}

private protocol BackgroundWork: AnyObject {
  func perform()
}

extension Background: BackgroundWork {
  fileprivate func perform() {
    result = work()
    var byte: UInt8 = 1
    _ = write(signalDescriptor, &byte, 1)
  }
}
