import AgentWire
import Glibc

/// Questions to the person at the terminal. They are asked on `/dev/tty`, so that standard input stays free for data.
extension Terminal {
  /// Longest answer to a question, in bytes.
  static let answerBytes = 32 << 10

  /// Asks for a secret without showing it; a colon comes after the question.
  ///
  /// - Throws: `CommandError.local` with `next` as the next step when there is no terminal, `CommandError.usage` when nothing
  ///   is typed.
  func askSecret(_ question: String, otherwise next: NextStep) throws(CommandError) -> String {
    let secret = try askTerminal(question, ": ", isSecret: true, otherwise: next)
    guard !secret.isEmpty else { throw .usage("nothing was typed", next: "run the command again") }
    return secret
  }

  /// Asks a yes-or-no question; no is the default. `lines` are what it is about: they are shown where the question
  /// stands, wherever standard error goes.
  func confirm(_ question: String, about lines: [String] = [], otherwise next: NextStep) throws(CommandError) -> Bool {
    let answer = try askTerminal(
      question, " [y/N] ", about: lines, isSecret: false, otherwise: next,
      unable: "this asks before it changes anything, and there is no terminal")
    return ["y", "yes"].contains(answer.lowercased())
  }

  /// Asks as ``confirm(_:about:otherwise:)`` does, for something that is not done without a yes. Where that was given on
  /// the command line, `lines` are shown and nobody is asked.
  ///
  /// - Throws: `CommandError.declined` too.
  func agree(
    _ question: String, about lines: [String] = [], isGiven: Bool = false, otherwise next: NextStep
  ) throws(CommandError) {
    if isGiven { return say(lines) }
    guard try confirm(question, about: lines, otherwise: next) else { throw .declined }
  }

  /// Asks for a line that may be shown; a colon comes after the question.
  func askLine(
    _ question: String, about lines: [String] = [], otherwise next: NextStep
  ) throws(CommandError) -> String {
    try askTerminal(question, ": ", about: lines, isSecret: false, otherwise: next).trimmed
  }

  private func askTerminal(
    _ question: String, _ ending: String, about lines: [String] = [], isSecret: Bool, otherwise next: NextStep,
    unable: String? = nil
  ) throws(CommandError) -> String {
    let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    if descriptor < 0 || !errorIsTerminal { for line in lines { say(line) } }
    guard descriptor >= 0 else {
      throw .local(unable ?? "there is no terminal to ask on: \(question)", next: next, status: 64)
    }
    defer { close(descriptor) }
    // Before the question: who answers at once would see the answer, and turning the echo off drops it.
    let echo = isSecret ? SilentEcho(descriptor) : nil
    if !isSecret { Interrupts.endLine() }
    defer { if !isSecret { Interrupts.leaveLine() } }
    // What was typed before the question does not answer it.
    tcflush(descriptor, TCIFLUSH)
    // Never cut: what is agreed to stands in it.
    let text = QuestionText(
      lines: lines.map { visible($0, limit: .max) }, question: visible(question, limit: .max) + ending)
    FileBytes.writeAll(Array(text.text(on: Self.screen(of: descriptor)).utf8), to: descriptor)
    defer {
      if let echo {
        echo.restore()
        FileBytes.writeAll([UInt8(ascii: "\n")], to: descriptor)
      }
    }
    guard let line = FileBytes.readLine(from: descriptor, limit: Self.answerBytes, until: SilentEcho.interruptKey)
    else { throw .local("nothing was entered", status: 64) }
    if line.unicodeScalars.last?.value == UInt32(SilentEcho.interruptKey) { throw .silent(status: 130) }
    return line
  }

  private static func screen(of descriptor: Int32) -> QuestionText.Screen {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20, size.ws_row > 1 else { return .usual }
    return QuestionText.Screen(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }

  /// A secret from standard input: its first line, at most 32 KiB, without the line end.
  ///
  /// - Throws: `CommandError.usage` when it is empty or too long.
  static func secretFromInput(_ what: String) throws(CommandError) -> String {
    guard let line = FileBytes.readLine(from: STDIN_FILENO, limit: answerBytes), !line.isEmpty else {
      throw .usage(
        "standard input holds no \(what) (one line, at most 32 KiB)",
        next: "run it in a terminal, where it is asked for, or give standard input from a file or a pipe")
    }
    return line
  }
}

/// Echo turned off on a terminal.
private final class SilentEcho {
  /// Control-C.
  static let interruptKey: UInt8 = 3

  /// What ends the program while the echo is off must not leave it off.
  private static let ends = [SIGTERM, SIGHUP]
  /// For their handler, which may touch nothing that locks or allocates.
  private nonisolated(unsafe) static var current = (descriptor: Int32(-1), before: termios())

  private let descriptor: Int32
  private var before = termios()
  private let isActive: Bool

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    guard tcgetattr(descriptor, &before) == 0 else {
      isActive = false
      return
    }
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO)
    // The interrupt key ends the line instead of the process, so that the echo comes back before anything else.
    silent.c_lflag &= ~tcflag_t(ISIG)
    silent.c_cc.11 = Self.interruptKey  // VEOL
    isActive = tcsetattr(descriptor, TCSAFLUSH, &silent) == 0
    Self.current = (descriptor, before)
    for number in Self.ends where isActive && !Interrupts.isIgnored(number) {
      signal(number) { number in
        tcsetattr(SilentEcho.current.descriptor, TCSANOW, &SilentEcho.current.before)
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  func restore() {
    guard isActive else { return }
    for number in Self.ends where !Interrupts.isIgnored(number) { signal(number, SIG_DFL) }
    var before = before
    _ = tcsetattr(descriptor, TCSAFLUSH, &before)
  }
}
