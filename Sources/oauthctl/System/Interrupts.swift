import Glibc

/// Control-C (and SIGTERM, SIGHUP) as something to poll for, while a command has something to undo.
enum Interrupts {
  /// The descriptor the handler writes to. A plain global: a handler may touch nothing that locks or allocates.
  private nonisolated(unsafe) static var writeEnd: Int32 = -1

  /// From now on an interrupt makes the returned descriptor readable instead of ending the process. The byte read is
  /// the number of the signal.
  static func capture() -> Int32? {
    guard let pipe = handlerPipe() else { return nil }
    writeEnd = pipe.writeEnd
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, handler) }
    return pipe.readEnd
  }

  /// A pipe that a handler writes to: it waits for nobody, and no child has it. Nil: the system has no descriptors left.
  static func handlerPipe() -> (readEnd: Int32, writeEnd: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    return (ends[0], ends[1])
  }

  /// Interrupts end the process again, or are put off as they were before.
  static func release() {
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, isPuttingOff ? putOffHandler : SIG_DFL) }
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
    leftNumber = 0
    for number in [SIGINT, SIGQUIT] where !isIgnored(number) { signal(number) { Interrupts.leftNumber = $0 } }
    for number in [SIGTERM, SIGHUP] where !isIgnored(number) {
      signal(number) { number in
        Interrupts.leftNumber = number
        _ = kill(Interrupts.childProcess, number)
      }
    }
  }

  /// The signal that came since ``leave(to:)``, whether the child has ended by it or not; nil: none.
  static var left: Int32? { leftNumber == 0 ? nil : leftNumber }

  /// The child ended.
  static func takeBack() {
    for number in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] where !isIgnored(number) { signal(number, SIG_DFL) }
  }

  /// What comes while a question stands: it is kept, and ends the question instead of the process, so that what was begun
  /// for it is taken back.
  struct Held {
    fileprivate static let numbers = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1, SIGUSR2]

    /// Readable when an interrupt has come.
    let readEnd: Int32
    private let ownWriteEnd: Int32
    private let writeEndBefore: Int32
    private var before: [(number: Int32, action: sigaction)] = []

    /// Nil: the system has no descriptors left.
    init?() {
      guard let pipe = handlerPipe() else { return nil }
      (readEnd, ownWriteEnd) = pipe
      writeEndBefore = writeEnd
      writeEnd = ownWriteEnd
      for number in Self.numbers where !isIgnored(number) {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { continue }
        before.append((number, action))
        signal(number, handler)
      }
    }

    /// From now on interrupts do what they did before. Where no answer came, what is taken back outlives the terminal: its
    /// hangup is told to everybody on it, more than once.
    ///
    /// - Returns: the signal that came.
    func end(isAnswered: Bool) -> Int32? {
      let number = FileBytes.readSome(from: readEnd, limit: 1)?.first.map(Int32.init)
      for (number, action) in before {
        var action = action
        sigaction(number, &action, nil)
      }
      if !isAnswered || number != nil { signal(SIGHUP, SIG_IGN) }
      writeEnd = writeEndBefore
      close(ownWriteEnd)
      close(readEnd)
      return number
    }
  }

  private nonisolated(unsafe) static var isPuttingOff = false
  private nonisolated(unsafe) static var putOffNumber: Int32 = 0

  /// From now on the first interrupt is only kept, for ``putOff``, and a second one ends the process. For the time between
  /// a change of a file and the end of what it was made for: whoever ends in between could not take it back. Each wait in
  /// it has a limit of its own.
  ///
  /// - Returns: false: somebody above does that already, and ends it.
  @discardableResult
  static func beginPuttingOff() -> Bool {
    guard !isPuttingOff else { return false }
    isPuttingOff = true
    for number in Held.numbers where !isIgnored(number) { signal(number, putOffHandler) }
    return true
  }

  /// Interrupts end the process again.
  static func endPuttingOff() {
    guard isPuttingOff else { return }
    isPuttingOff = false
    for number in Held.numbers where !isIgnored(number) { signal(number, SIG_DFL) }
  }

  /// The signal that came since ``beginPuttingOff()``; nil: none.
  static var putOff: Int32? { putOffNumber == 0 ? nil : putOffNumber }

  private static let putOffHandler: @convention(c) (Int32) -> Void = { number in
    guard putOffNumber == 0 else {
      signal(number, SIG_DFL)
      raise(number)
      return
    }
    putOffNumber = number
    let saved = errno
    let words: StaticString = "\nThis ends when the server has answered. Once more ends it at once.\n"
    say(words)
    errno = saved
  }

  /// What a handler may do: nothing is said where that would have to wait.
  private static func say(_ words: StaticString) {
    var output = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    guard poll(&output, 1, 0) > 0, output.revents & Int16(POLLOUT) != 0 else { return }
    _ = write(STDERR_FILENO, words.utf8Start, words.utf8CodeUnitCount)
  }

  /// Waits for `work`, which the agent may do whether this process is there or not: whoever interrupts it is told so. What
  /// already does something else about interrupts goes on doing that.
  static func whileAgentChanges<Value, Failure: Error>(_ work: () throws(Failure) -> Value) throws(Failure) -> Value {
    let taken = [SIGINT, SIGTERM, SIGHUP].filter { number in
      var action = sigaction()
      return sigaction(number, nil, &action) == 0
        && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0
    }
    for number in taken { signal(number, changeHandler) }
    defer { for number in taken { signal(number, SIG_DFL) } }
    return try work()
  }

  private static let changeHandler: @convention(c) (Int32) -> Void = { number in
    let words: StaticString = "\nThe agent may do it all the same, when what is under way has ended: oauthctl status\n"
    say(words)
    signal(number, SIG_DFL)
    raise(number)
  }

  private nonisolated(unsafe) static var childProcess: pid_t = 0
  private nonisolated(unsafe) static var leftNumber: Int32 = 0

  /// Whether the signal does nothing to this program: it is ignored or blocked, as it was at its start.
  static func isWithoutEffect(_ number: Int32) -> Bool {
    var blocked = sigset_t()
    return isIgnored(number) || pthread_sigmask(SIG_BLOCK, nil, &blocked) == 0 && sigismember(&blocked, number) == 1
  }

  static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}
