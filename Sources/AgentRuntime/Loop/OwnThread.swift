import CLinux
import Glibc

/// Runs blocking `work` on a thread made for it and gone after: a wait for a pipe may take a minute, and the threads of
/// Swift concurrency are as many as processors. Nil when no thread could be made.
func onOwnThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result? {
  await withCheckedContinuation { (continuation: CheckedContinuation<Result?, Never>) in
    let started = startThread(name: "waiting", stackBytes: 256 << 10) { continuation.resume(returning: work()) }
    if !started { continuation.resume(returning: nil) }
  }
}

/// Runs `work` on a detached thread of its own, which shows as `name`, of at most 15 bytes. False when there is none left.
func startThread(name: String, stackBytes: Int, _ work: sending @escaping () -> Void) -> Bool {
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  pthread_attr_setstacksize(&attributes, stackBytes)
  var thread = pthread_t()
  let retained = Unmanaged.passRetained(Job(name: name, work: work))
  let status = pthread_create(
    &thread, &attributes,
    { context in
      // A pipe whose reader died must be an error of the write, not the end of the agent.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      if let context { Unmanaged<Job>.fromOpaque(context).takeRetainedValue().run() }
      return nil
    }, retained.toOpaque())
  if status != 0 { retained.release() }
  return status == 0
}

private final class Job {
  private let name: String
  private let work: () -> Void

  init(name: String, work: @escaping () -> Void) {
    self.name = name
    self.work = work
  }

  func run() {
    clinux_name_thread(name)
    work()
  }
}
