import Glibc

/// A terminal that shows nothing of what is typed, and hands on each byte, while interrupts are held: what ends the program must not
/// leave it so.
struct SilentInput {
  private let descriptor: Int32
  private let before: termios
  private let during: termios
  private var continuing = sigaction()

  /// Nil: this is no terminal.
  init?(_ descriptor: Int32) {
    self.descriptor = descriptor
    var modes = termios()
    guard tcgetattr(descriptor, &modes) == 0 else { return nil }
    before = modes
    modes.c_lflag &= ~tcflag_t(ECHO | ICANON)
    // VTIME and VMIN: a read waits for one byte.
    (modes.c_cc.5, modes.c_cc.6) = (0, 1)
    // Control-Z would stop the program and leave it so, too. VSUSP: a NUL is no key (_POSIX_VDISABLE).
    modes.c_cc.10 = 0
    during = modes
    guard tcsetattr(descriptor, TCSAFLUSH, &modes) == 0 else { return nil }
    // Who stops the program gives the terminal to a shell, which sets it as it was: a wait that this ends sets it again.
    sigaction(SIGCONT, nil, &continuing)
    signal(SIGCONT) { _ in }
  }

  func restore() {
    var (before, continuing) = (before, continuing)
    sigaction(SIGCONT, &continuing, nil)
    _ = tcsetattr(descriptor, TCSAFLUSH, &before)
  }

  /// The line that is typed.
  ///
  /// - Returns: nil at the end of input, or where `end` is readable before.
  /// - Throws: ``TooLong`` where it has more than `limit` bytes.
  func readLine(limit: Int, unless end: Int32) throws(TooLong) -> [UInt8]? {
    var line = TypedLine(TypedLine.Keys(before))
    func setAgain() {
      var during = during
      _ = tcsetattr(descriptor, TCSANOW, &during)
    }
    while FileBytes.waits(for: descriptor, unless: end, interrupted: setAgain) {
      guard let byte = FileBytes.readSome(from: descriptor, limit: 1)?.first else { return nil }
      switch line.take(byte) {
      case .goesOn: if line.bytes.count > limit { throw TooLong() }
      case .ended: return line.bytes
      case .nothing: return nil
      }
    }
    return nil
  }

  struct TooLong: Error {}
}
