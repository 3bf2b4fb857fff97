import Glibc

/// Control-C (and SIGTERM, SIGHUP) as something to poll for, while a command has something to undo.
enum Interrupts {
  /// The descriptor the handler writes to. A plain global: a handler may touch nothing that locks or allocates.
  private nonisolated(unsafe) static var writeEnd: Int32 = -1

  /// From now on an interrupt makes the returned descriptor readable instead of ending the process. The byte read is
  /// the number of the signal.
  static func capture() -> Int32? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    writeEnd = ends[1]
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, handler) }
    return ends[0]
  }

  /// Interrupts end the process again.
  static func release() {
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
  }

  /// While a question stands: an interrupt ends the process as ever, and the shell's prompt begins a line of its own.
  static func endLine() {
    guard !isIgnored(SIGINT) else { return }
    signal(SIGINT) { number in
      var end = UInt8(ascii: "\n")
      _ = write(STDERR_FILENO, &end, 1)
      signal(number, SIG_DFL)
      raise(number)
    }
  }

  /// The question is answered.
  static func leaveLine() {
    if !isIgnored(SIGINT) { signal(SIGINT, SIG_DFL) }
  }

  private static let handler: @convention(c) (Int32) -> Void = { number in
    var byte = UInt8(truncatingIfNeeded: number)
    let saved = errno
    _ = write(writeEnd, &byte, 1)
    errno = saved
  }

  /// While a child has the terminal: the keys reach it by themselves and must not end us before it; what is sent to us
  /// alone is passed on. Handlers, unlike ignored signals, do not reach into the child.
  static func leave(to child: pid_t) {
    childProcess = child
    for number in [SIGINT, SIGQUIT] where !isIgnored(number) { signal(number) { _ in } }
    for number in [SIGTERM, SIGHUP] where !isIgnored(number) {
      signal(number) { number in _ = kill(Interrupts.childProcess, number) }
    }
  }

  /// The child ended.
  static func takeBack() {
    for number in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] where !isIgnored(number) { signal(number, SIG_DFL) }
  }

  private nonisolated(unsafe) static var childProcess: pid_t = 0

  static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}
