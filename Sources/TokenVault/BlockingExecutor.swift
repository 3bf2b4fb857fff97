import Dispatch

/// Runs an actor's jobs on a thread of its own, one after the other: fsync, SQLite and Argon2id block, and an RSA key takes
/// seconds to make.
package final class BlockingExecutor: SerialExecutor {
  let queue: DispatchQueue

  package init(label: String) { queue = DispatchQueue(label: label) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
