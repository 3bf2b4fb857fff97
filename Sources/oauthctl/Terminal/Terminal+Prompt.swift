import AgentWire
import Glibc

/// Questions to the person at the terminal. They are asked on `/dev/tty`, so that standard input stays free for data.
extension Terminal {
  /// What helps where a secret is to come from standard input, and nobody can be asked for it.
  static let fileOrPipe: NextStep = "give standard input from a file or a pipe"

  /// Longest secret, in bytes.
  static let answerBytes = 32 << 10

  /// Longest line that the kernel gives of a terminal where it edits lines, without its end, in bytes (N_TTY_BUF_SIZE): it
  /// drops the rest without a word.
  static let lineBytes = 4_095

  /// Asks for a secret without showing it; a colon comes after the question.
  ///
  /// - Throws: `CommandError.local` with `next` as the next step when there is no terminal, `CommandError.usage` when nothing
  ///   is typed.
  func askSecret(_ question: String, otherwise next: NextStep) throws(CommandError) -> String {
    let secret = try askTerminal(question, ": ", isSecret: true, otherwise: next)
    guard !secret.isEmpty else { throw .usage("nothing was typed", next: "run the command again") }
    return secret
  }

  /// Whether a question could be asked now: before something is done for an answer that nobody can give.
  ///
  /// - Throws: what ``askSecret(_:otherwise:)`` throws without a terminal.
  func checkCanAsk(_ question: String, otherwise next: NextStep) throws(CommandError) {
    let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw Self.noTerminal(question, next) }
    close(descriptor)
  }

  private static func noTerminal(_ question: String, _ next: NextStep) -> CommandError {
    .local("there is no terminal to ask on: \(question)", next: next, status: 64)
  }

  /// Asks a yes-or-no question; no is the default. `lines` and `commands` are what it is about: they are shown where the
  /// question stands, wherever standard error goes.
  func confirm(
    _ question: String, about lines: [String] = [], commands: [String] = [], otherwise next: NextStep
  ) throws(CommandError) -> Bool {
    let answer = try askTerminal(
      question, " [y/N] ", about: lines, commands: commands, isSecret: false, otherwise: next,
      unable: "this asks before it changes anything, and there is no terminal")
    return ["y", "yes"].contains(answer.lowercased())
  }

  /// Asks as ``confirm(_:about:otherwise:)`` does, for something that is not done without a yes. Where that was given on
  /// the command line, `lines` are shown and nobody is asked.
  ///
  /// - Throws: `CommandError.declined` too.
  func agree(
    _ question: String, about lines: [String] = [], commands: [String] = [], isGiven: Bool = false,
    otherwise next: NextStep
  ) throws(CommandError) {
    if isGiven {
      say(lines)
      return show(commands: commands)
    }
    guard try confirm(question, about: lines, commands: commands, otherwise: next) else { throw .declined }
  }

  /// Asks for a line that may be shown; a colon comes after the question.
  func askLine(
    _ question: String, about lines: [String] = [], otherwise next: NextStep
  ) throws(CommandError) -> String {
    try askTerminal(question, ": ", about: lines, isSecret: false, otherwise: next).trimmed
  }

  private func askTerminal(
    _ question: String, _ ending: String, about lines: [String] = [], commands: [String] = [], isSecret: Bool,
    otherwise next: NextStep, unable: String? = nil
  ) throws(CommandError) -> String {
    let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    if descriptor < 0 || !errorIsTerminal {
      say(lines)
      show(commands: commands)
    }
    guard descriptor >= 0 else {
      throw unable.map { .local($0, next: next, status: 64) } ?? Self.noTerminal(question, next)
    }
    defer { close(descriptor) }
    // An interrupt ends the question, and its line: what asks takes back what it has begun, and the shell begins a new line.
    guard let interrupts = Interrupts.Held() else {
      throw .local("nothing can be asked: \(FileBytes.errorText())", next: next, status: 1)
    }
    // Before the question: who answers at once would see the answer, and turning the echo off drops it.
    var silent: SilentInput?
    if isSecret {
      silent = SilentInput(descriptor, unless: interrupts.readEnd)
      if silent == nil {
        let code = errno
        if let number = interrupts.end(isAnswered: false) { throw .silent(status: 128 + number) }
        throw .local(
          "a secret is not asked for here, since it would be seen: \(FileBytes.errorText(code))", next: next, status: 1)
      }
    }
    // What was typed before the question does not answer it.
    tcflush(descriptor, TCIFLUSH)
    // Never cut: what is agreed to stands in it.
    let text = QuestionText(
      lines: lines.map { visible($0, limit: .max) }, commands: commands.map { visible($0, limit: .max) },
      question: visible(question, limit: .max) + ending)
    FileBytes.writeAll(Array(text.text(on: Self.screen(of: descriptor)).utf8), to: descriptor)
    let answer = Self.answer(descriptor, silent, unless: interrupts.readEnd)
    silent?.restore()
    if isSecret || answer == .nothing { FileBytes.writeAll([UInt8(ascii: "\n")], to: descriptor) }
    if let number = interrupts.end(isAnswered: answer != .nothing) { throw .silent(status: 128 + number) }
    switch answer {
    case .line(let line): return line
    case .nothing: throw .local("nothing was entered", status: 64)
    case .tooLong(let limit):
      throw .local("more than \(limit) bytes were entered; nothing is done", next: next, status: 64)
    case .noText: throw .local("what was entered is not UTF-8; nothing is done", next: next, status: 64)
    }
  }

  private enum Answer: Equatable {
    case line(String)
    case nothing
    case tooLong(limit: Int)
    case noText
  }

  /// `end`: readable where nobody waits for the answer any more.
  private static func answer(_ descriptor: Int32, _ silent: SilentInput?, unless end: Int32) -> Answer {
    guard let silent else {
      guard let line = FileBytes.readLine(from: descriptor, limit: answerBytes, unless: end) else { return .nothing }
      return line.utf8.count < lineBytes ? .line(line) : .tooLong(limit: lineBytes - 1)
    }
    do {
      guard let bytes = try silent.readLine(limit: answerBytes, unless: end) else { return .nothing }
      return String(validating: bytes, as: UTF8.self).map { .line($0) } ?? .noText
    } catch { return .tooLong(limit: answerBytes) }
  }

  private static func screen(of descriptor: Int32) -> QuestionText.Screen {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return .usual }
    return QuestionText.Screen(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }

  /// A secret that standard input gives: its first line, at most 32 KiB, without the line end. Where that is a terminal,
  /// `question` is asked, and nothing of what is typed is shown.
  ///
  /// - Throws: `CommandError.usage` when it is empty or too long.
  func secretFromInput(
    _ what: String, asking question: String, otherwise next: NextStep = Self.fileOrPipe
  ) throws(CommandError) -> String {
    if inputIsTerminal { return try askSecret(question, otherwise: next) }
    guard let line = FileBytes.readLine(from: STDIN_FILENO, limit: Self.answerBytes), !line.isEmpty else {
      throw .usage(
        "standard input holds no \(what) (one line, at most 32 KiB)",
        next: "run it in a terminal, where it is asked for, or give standard input from a file or a pipe")
    }
    return line
  }
}
