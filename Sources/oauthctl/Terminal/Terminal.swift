import AgentWire
import Glibc

/// The only one that talks to people. The rules:
/// - standard output carries data and nothing else;
/// - prompts, hints, progress and failures go to standard error;
/// - a failure is one line `oauthctl: what and why`, then `  run: what to do`;
/// - text from elsewhere is escaped, here, whoever escaped it before, and paths of the home folder begin with `~`;
/// - colour only on a terminal, never with NO_COLOR or TERM=dumb.
struct Terminal: Sendable {
  enum Stream: Sendable { case output, error }

  /// Whether standard output, error and input are terminals.
  var outputIsTerminal: Bool
  var errorIsTerminal: Bool
  var inputIsTerminal: Bool
  /// Columns of standard output; nil when it is no terminal, or does not tell.
  var columns: Int?
  var usesColor: Bool
  /// Columns of standard error; nil where it is no terminal, or does not tell. Asked at each line: windows change.
  private let errorColumns: @Sendable () -> Int?
  /// Whether the user's locale knows no other characters.
  private let isASCII: @Sendable () -> Bool
  /// Texts with paths as people write them.
  private let withShortPaths: @Sendable (String) -> String
  /// Whether what was said so far on standard error can have reached somebody.
  let errorIsSeen: @Sendable () -> Bool
  private let sink: @Sendable (Stream, String) -> Void

  init(
    outputIsTerminal: Bool = false, errorIsTerminal: Bool = false, inputIsTerminal: Bool = false, columns: Int? = nil,
    usesColor: Bool = false, errorColumns: @escaping @Sendable () -> Int? = { nil },
    isASCII: @escaping @Sendable () -> Bool = { false },
    withShortPaths: @escaping @Sendable (String) -> String = { $0 },
    errorIsSeen: @escaping @Sendable () -> Bool = { true },
    write: @escaping @Sendable (Stream, String) -> Void
  ) {
    self.outputIsTerminal = outputIsTerminal
    self.errorIsTerminal = errorIsTerminal
    self.inputIsTerminal = inputIsTerminal
    self.columns = columns
    self.usesColor = usesColor
    self.errorColumns = errorColumns
    self.isASCII = isASCII
    self.withShortPaths = withShortPaths
    self.errorIsSeen = errorIsSeen
    sink = write
  }

  /// Why data did not reach standard output, 0 when all did: a full disk must not look like success. Commands run on
  /// one thread, and only they print data.
  private nonisolated(unsafe) static var outputError: Int32 = 0

  static var isOutputLost: Bool { outputError != 0 }

  private nonisolated(unsafe) static var errorWasLost = false

  private static func isErrorSeen() -> Bool {
    var found = stat()
    var null = stat()
    guard !errorWasLost, fstat(STDERR_FILENO, &found) == 0 else { return false }
    let isNull = stat("/dev/null", &null) == 0 && found.st_mode == null.st_mode && found.st_rdev == null.st_rdev
    return !isNull
  }

  /// - Throws: `CommandError` with status 1 when data of this process was lost.
  static func checkOutput() throws(CommandError) {
    guard outputError != 0 else { return }
    // A reader that had enough is told nothing, as everywhere.
    if outputError == EPIPE { throw .silent(status: 1) }
    throw .local("cannot write to standard output: \(FileBytes.errorText(outputError))", status: 1)
  }

  /// The process's own streams.
  static func live(_ environment: Environment = .live) -> Terminal {
    let output = isatty(STDOUT_FILENO) == 1
    return Terminal(
      outputIsTerminal: output, errorIsTerminal: isatty(STDERR_FILENO) == 1, inputIsTerminal: isatty(STDIN_FILENO) == 1,
      columns: columns(environment, of: output ? STDOUT_FILENO : nil),
      usesColor: output && environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
        && environment["TERM"] != nil,
      errorColumns: { windowColumns(of: STDERR_FILENO) }, isASCII: { environment.wantsASCII },
      withShortPaths: environment.shortPaths(in:), errorIsSeen: isErrorSeen, write: write)
  }

  /// The same for a program that is called for each token, and prints data and remarks alone: nothing is asked about the
  /// terminal beforehand.
  static func helper(_ environment: Environment = .live) -> Terminal {
    Terminal(
      errorColumns: { windowColumns(of: STDERR_FILENO) }, isASCII: { environment.wantsASCII },
      withShortPaths: environment.shortPaths(in:), write: write)
  }

  private static func write(_ stream: Stream, _ text: String) {
    var text = text
    text.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      switch stream {
      case .output: writeData(bytes)
      case .error: if !FileBytes.writeAll(bytes, to: STDERR_FILENO) { errorWasLost = true }
      }
    }
  }

  private static func writeData(_ bytes: UnsafeRawBufferPointer) {
    if !FileBytes.writeAll(bytes, to: STDOUT_FILENO) { outputError = errno }
  }

  /// Data on the process's own standard output, as it is.
  static func writeData(_ bytes: [UInt8]) { bytes.withUnsafeBytes { writeData($0) } }

  /// `COLUMNS` where it is set to a sensible number, else what the terminal says.
  static func columns(_ environment: Environment, of descriptor: Int32?) -> Int? {
    if let text = environment["COLUMNS"], let columns = Int(text), (20...10_000).contains(columns) { return columns }
    return descriptor.flatMap(windowColumns)
  }

  /// What the terminal behind `descriptor` says; nil where it is none, or says nothing sensible.
  private static func windowColumns(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// One line of data on standard output, as it is: tokens, JSON, tables.
  func data(_ line: String) { sink(.output, line + "\n") }

  /// Lines of data of another program's format, as they are.
  func write(_ lines: String) {
    if !lines.isEmpty { sink(.output, lines) }
  }

  /// One line for people on standard error, escaped, and broken where the terminal ends. `keepsAddresses`: one to be copied
  /// stays whole; never in a line with words of others, who could fill a row with it.
  func say(_ line: String, keepsAddresses: Bool = false) {
    // A command of ours that a sentence ends with is copied, too. Words of others may look like one: what is longer than a
    // row is broken.
    let command = line.range(ofText: ": oauthctl ").map { String(line[$0.lowerBound...].dropFirst(2)) }
    let isOneRow = command.map { ScreenRows.isOneRow(visible($0, limit: Self.lineLimit), columns: errorColumns() ?? 0) }
    say(line, endingWith: isOneRow == true ? command : nil, keepsAddresses: keepsAddresses)
  }

  private func say(_ line: String, endingWith command: String?, keepsAddresses: Bool = false) {
    let line = visible(line, limit: Self.lineLimit)
    guard let columns = errorColumns() else { return sink(.error, line + "\n") }
    let rows = ScreenRows.rows(
      of: line, columns: columns, keepsAddresses: keepsAddresses,
      endingWith: command.map { visible($0, limit: Self.lineLimit) })
    sink(.error, rows.map { $0 + "\n" }.joined())
  }

  /// Commands to type, each on one line however narrow the terminal is.
  func show(commands: [String]) {
    for line in commands { sink(.error, visible(line, limit: Self.lineLimit) + "\n") }
  }

  /// A command is one line however long: people copy it.
  private func say(_ step: NextStep) {
    let line = "  " + Self.oneLine(step.line)
    switch step {
    case .run: show(commands: [line])
    case .advice: say(line)
    }
  }

  func say(_ lines: [String], keepsAddresses: Bool = false) {
    for line in lines { say(line, keepsAddresses: keepsAddresses) }
  }

  /// A picture of half blocks on standard error, bright on black whatever colours the terminal has otherwise.
  func draw(_ lines: [String]) {
    for line in lines { sink(.error, usesColor ? "\u{1B}[97;40m\(line)\u{1B}[0m\n" : line + "\n") }
  }

  /// Text before an answer, without a line end.
  func ask(_ text: String) { sink(.error, spelled(PrintableText.escaped(text))) }

  /// A table or other laid out text on standard output, each line escaped here, whoever escaped it before.
  func page(_ lines: [String]) { for line in lines { data(spelled(escaped(line))) } }

  /// The colours that `paint` gives are the only sequences that pass, and only where it gives any.
  private func escaped(_ line: String) -> String {
    let pieces = line.split(separator: "\u{1B}", omittingEmptySubsequences: false)
    return pieces.dropFirst().reduce(into: Self.plain(pieces.first ?? "")) { text, piece in
      let color = usesColor ? Self.colors.first { piece.hasPrefix($0) } : nil
      text += color.map { "\u{1B}" + $0 + Self.plain(piece.dropFirst($0.count)) } ?? Self.plain("\u{1B}" + piece)
    }
  }

  private static func plain(_ text: some StringProtocol) -> String {
    PrintableText.escaped(String(text), limit: lineLimit)
  }

  /// Longest line for people, in characters.
  private static let lineLimit = 64 << 10
  private static let colors = Color.allCases.map { "[\($0.rawValue)m" } + ["[0m"]

  /// One line for people, escaped and spelled. Blanks beyond ``PrintableText/mostBlanks`` in a row are shown, too.
  func visible(_ line: String, limit: Int) -> String {
    spelled(PrintableText.withShownBlanks(PrintableText.escaped(line, limit: limit)))
  }

  /// `text` with short paths, in the characters of the user's locale: others are told apart by their numbers.
  func spelled(_ text: String) -> String {
    let text = withShortPaths(text)
    guard !text.utf8.allSatisfy({ $0 < 0x80 }), isASCII() else { return text }
    return text.unicodeScalars.reduce(into: "") { line, scalar in
      switch scalar {
      case "·": line += "-"
      case "…": line += "..."
      case "→": line += "->"
      case "“", "”": line += "\""
      case "’", "‘": line += "'"
      case "—", "–": line += "-"
      case "§": line += "section "
      case _ where scalar.isASCII: line.unicodeScalars.append(scalar)
      default: line += PrintableText.escape(scalar)
      }
    }
  }

  /// `oauthctl: NAME: what and why`, then what to do.
  func fail(_ error: CommandError) {
    guard let sentence = error.sentence else { return }
    // It may have words of others, whatever they look like.
    say("oauthctl: \(Self.oneLine(sentence))", endingWith: nil)
    if let step = error.nextStep { say(step) }
  }

  /// A remark that ends nothing.
  func warn(_ what: String, next step: NextStep? = nil) {
    say("oauthctl: \(Self.oneLine(what))", endingWith: nil)
    if let step { say(step) }
  }

  /// A remark and its step in one line, for whoever reads them among lines of another program.
  func warn(inOneLine what: String, next step: NextStep?) {
    let command: String? = if case .run(let text)? = step { Self.oneLine(text) } else { nil }
    say("oauthctl: \(Self.oneLine(step?.line(after: what) ?? what))", endingWith: command)
  }

  private static func oneLine(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 })
  }

  /// `text` in a colour of the eight that every terminal has, or as it is.
  func paint(_ text: String, _ color: Color) -> String {
    usesColor ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
  }

  enum Color: Int, CaseIterable, Sendable { case red = 31, green = 32, yellow = 33 }
}
