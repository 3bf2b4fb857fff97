import Glibc

/// Runs blocking `work` on a thread made for it and gone after: a wait for a pipe may take a minute, and the threads of
/// Swift concurrency are as many as processors. Nil when no thread could be made.
func onOwnThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result? {
  await withCheckedContinuation { (continuation: CheckedContinuation<Result?, Never>) in
    let job = Job { continuation.resume(returning: work()) }
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 256 << 10)
    var thread = pthread_t()
    let retained = Unmanaged.passRetained(job)
    let status = pthread_create(
      &thread, &attributes,
      { context in
        // A pipe whose reader died must be an error of the write, not the end of the agent.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        if let context { Unmanaged<Job>.fromOpaque(context).takeRetainedValue().work() }
        return nil
      }, retained.toOpaque())
    if status != 0 {
      retained.release()
      continuation.resume(returning: nil)
    }
  }
}

private final class Job: Sendable {
  let work: @Sendable () -> Void

  init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}
