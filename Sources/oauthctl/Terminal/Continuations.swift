import Glibc

/// That the program goes on after a stop (SIGCONT), as something to poll for. Whoever stopped it gave the terminal to a
/// shell, which sets its modes as they were.
struct Continuations {
  /// A handler may touch nothing that locks or allocates.
  private nonisolated(unsafe) static var writeEnd: Int32 = -1

  let readEnd: Int32
  private var before = sigaction()

  /// Nil: the system has no descriptors left.
  init?() {
    guard let pipe = Interrupts.handlerPipe() else { return nil }
    (readEnd, Self.writeEnd) = pipe
    sigaction(SIGCONT, nil, &before)
    signal(SIGCONT) { _ in
      var byte: UInt8 = 0
      let saved = errno
      _ = write(Continuations.writeEnd, &byte, 1)
      errno = saved
    }
  }

  func take() { _ = FileBytes.readSome(from: readEnd, limit: 64) }

  func end() {
    var before = before
    sigaction(SIGCONT, &before, nil)
    close(Self.writeEnd)
    close(readEnd)
  }
}
