import Glibc

/// A terminal that shows nothing of what is typed, and hands on each byte, while interrupts are held: what ends the program
/// must not leave it so.
struct SilentInput {
  private let descriptor: Int32
  private let before: termios
  private let during: termios
  private let continuations: Continuations

  /// Nil, with errno set: it would show what is typed, or `end` was readable while the program was in the background.
  init?(_ descriptor: Int32, unless end: Int32) {
    self.descriptor = descriptor
    var modes = termios()
    guard tcgetattr(descriptor, &modes) == 0, let continuations = Continuations() else { return nil }
    self.continuations = continuations
    before = modes
    modes.c_lflag &= ~tcflag_t(ECHO | ICANON)
    // VTIME and VMIN: a read waits for one byte.
    (modes.c_cc.5, modes.c_cc.6) = (0, 1)
    // Control-Z would stop the program and leave it so, too. VSUSP: a NUL is no key (_POSIX_VDISABLE).
    modes.c_cc.10 = 0
    during = modes
    guard waitForForeground(unless: end), tcsetattr(descriptor, TCSAFLUSH, &modes) == 0 else {
      let code = errno
      continuations.end()
      errno = code
      return nil
    }
  }

  func restore() {
    continuations.end()
    // In the background the terminal is the shell's, and setting it would stop the program, which is to end.
    guard tcgetpgrp(descriptor) == getpgrp() || Interrupts.isWithoutEffect(SIGTTOU) else { return }
    var before = before
    _ = tcsetattr(descriptor, TCSAFLUSH, &before)
  }

  /// The line that is typed. Of one that is too long the rest is read, too: it would be the shell's otherwise, which shows it.
  ///
  /// - Returns: nil at the end of input, or where `end` is readable before.
  /// - Throws: ``TooLong`` where it has more than `limit` bytes.
  func readLine(limit: Int, unless end: Int32) throws(TooLong) -> [UInt8]? {
    var line = TypedLine(TypedLine.Keys(before))
    var isTooLong = false
    while true {
      var all = [descriptor, end, continuations.readEnd].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      while poll(&all, nfds_t(all.count), -1) < 0 && errno == EINTR {}
      if all[1].revents != 0 { return nil }
      if all[2].revents != 0 {
        continuations.take()
        guard waitForForeground(unless: end) else { return nil }
        var during = during
        _ = tcsetattr(descriptor, TCSANOW, &during)
        continue
      }
      guard let byte = FileBytes.readSome(from: descriptor, limit: 1)?.first else { return nil }
      let effect = line.take(byte)
      if effect == .goesOn {
        guard line.bytes.count > limit else { continue }
        isTooLong = true
        line = TypedLine(TypedLine.Keys(before))
        continue
      }
      if isTooLong { throw TooLong() }
      return effect == .ended ? line.bytes : nil
    }
  }

  /// In the background the terminal is somebody else's: the program stops until it is brought back, as it would where it
  /// set the terminal, but not again where it is to end.
  ///
  /// - Returns: false where `end` is readable.
  private func waitForForeground(unless end: Int32) -> Bool {
    // Where nobody could bring it back the signal does nothing.
    for _ in 0..<100 where tcgetpgrp(descriptor) != getpgrp() && !Interrupts.isWithoutEffect(SIGTTOU) {
      kill(0, SIGTTOU)
      var ended = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
      if poll(&ended, 1, 0) > 0 { return false }
    }
    return true
  }

  struct TooLong: Error {}
}
