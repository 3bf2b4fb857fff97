import Glibc

/// The signals that stop the agent, and the one that makes it read its files again. Their handler notes each on a pipe, which
/// the loop reads: what comes before ``untilEnd(on:hangup:)`` is kept. One in a process.
package struct ProcessSignals: Sendable {
  /// A plain global: a handler may touch nothing that locks or allocates.
  private nonisolated(unsafe) static var writeEnd: Int32 = -1

  private let readEnd: Int32
  private let hangup: Int32

  /// From now on none of these signals ends the process. Throws the errno when it has no descriptor left. The signals are
  /// parameters for tests, in whose process others have these.
  package static func trap(
    stops: [Int32] = [SIGTERM, SIGINT], hangup: Int32 = SIGHUP
  ) throws(UnixSocket.Errno) -> ProcessSignals {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw UnixSocket.Errno(errno) }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    writeEnd = ends[1]
    var action = sigaction()
    action.sa_flags = SA_RESTART
    action.__sigaction_handler.sa_handler = { number in
      var byte = UInt8(truncatingIfNeeded: number)
      let saved = errno
      _ = write(ProcessSignals.writeEnd, &byte, 1)
      errno = saved
    }
    for number in stops + [hangup] { sigaction(number, &action, nil) }
    return ProcessSignals(readEnd: ends[0], hangup: hangup)
  }

  /// Returns when the first signal came that ends the process. Until then calls `hangup` for hangups: never twice at a time,
  /// and once for all that come meanwhile.
  package func untilEnd(on loop: ServingLoop, hangup: @escaping @Sendable () async -> Void) async {
    await withCheckedContinuation { ended in
      loop.execute { [readEnd, number = self.hangup] queue in
        let reader = Reader(readEnd, hangup: number, loop: loop, ended: ended, onHangup: hangup)
        // Of a pipe it fails for want of kernel memory alone. An agent that hears no signal must not go on.
        if !queue.add(readEnd, .reading, reader) { reader.end() }
      }
    }
  }

  /// Used on the loop's thread only.
  private final class Reader: DescriptorHandler {
    private let descriptor: Int32
    private let hangup: Int32
    private let loop: ServingLoop
    /// Nil once it was told.
    private var ended: CheckedContinuation<Void, Never>?
    private let onHangup: @Sendable () async -> Void
    private var isCalling = false
    private var mustCallAgain = false

    init(
      _ descriptor: Int32, hangup: Int32, loop: ServingLoop, ended: CheckedContinuation<Void, Never>,
      onHangup: @escaping @Sendable () async -> Void
    ) {
      self.descriptor = descriptor
      self.hangup = hangup
      self.loop = loop
      self.ended = ended
      self.onHangup = onHangup
    }

    func isReady(_ readiness: Interest) {
      // More at once is a flood; the rest is read in the next turn.
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = max(0, read(descriptor, &bytes, bytes.count))
      for byte in bytes[..<count] {
        if Int32(byte) == hangup { call() } else { end() }
      }
    }

    func end() {
      ended?.resume()
      ended = nil
    }

    private func call() {
      guard ended != nil else { return }
      guard !isCalling else { return mustCallAgain = true }
      isCalling = true
      // The queue keeps this handler as long as the process lives.
      nonisolated(unsafe) let reader = self
      Task { [onHangup, loop] in
        await onHangup()
        loop.execute { _ in reader.called() }
      }
    }

    private func called() {
      isCalling = false
      if mustCallAgain {
        mustCallAgain = false
        call()
      }
    }
  }
}
