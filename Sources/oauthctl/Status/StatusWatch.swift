import AgentWire
import Glibc

/// `status --watch`: looks whenever the agent tells of a change, until it is interrupted or nobody reads any more. On a
/// terminal the page is drawn anew, every second at least, elsewhere each change is a line.
struct StatusWatch {
  enum Next { case look, redraw, end }

  var isJSON: Bool
  /// Whether the page is drawn anew: on a terminal that can.
  var isRedrawn: Bool
  /// Waits, and says what comes next.
  var pause: () -> Next
  /// The terminal as it is now: its size changes.
  var terminal: () -> Terminal
  /// Rows of the terminal, when it tells.
  var rows: () -> Int?
  /// Unix time.
  var now: () -> Int

  /// `first` may start the agent; `later` does not: one that was stopped on purpose stays so.
  func run(first: any AgentCalling, later: any AgentCalling) throws(CommandError) {
    var changes = StatusChanges()
    var lastText: String?
    var look = try look(first)
    while true {
      let terminal = terminal()
      let now = now()
      if isJSON {
        // The clock runs in every answer: if nothing else differs, nothing has changed.
        let text = Self.json(look)
        if text.comparable != lastText { terminal.data(text.line) }
        lastText = text.comparable
      } else if isRedrawn {
        terminal.write(Self.frame(look, terminal, rows: rows(), now))
      } else {
        terminal.page(changes.lines(look, now: now))
      }
      try Terminal.checkOutput()
      switch pause() {
      case .look: look = try self.look(later)
      case .redraw: break
      case .end: return
      }
    }
  }

  private func look(_ agent: any AgentCalling) throws(CommandError) -> Result<AgentStatusAnswer, CommandError> {
    do throws(CommandError) {
      return .success(try StatusCommand.status(agent))
    } catch {
      switch error {
      case .notReachable, .noAnswer: return .failure(error)
      case .usage, .agent, .local, .silent: throw error
      }
    }
  }

  /// Drawn over the frame before, from the top, without a flicker; what is left of it is erased. Lines below the last
  /// row of the terminal are left out: it would scroll.
  static func frame(_ look: Result<AgentStatusAnswer, CommandError>, _ terminal: Terminal, rows: Int?, _ now: Int)
    -> String
  {
    var lines: [String]
    switch look {
    case .success(let status):
      lines = StatusPage(status: status, accounts: status.accounts, now: now, isFrame: true).lines(terminal)
    case .failure(let error):
      let sentence = StatusPage.agentLine(PrintableText.escaped(error.sentence ?? "it does not answer"))
      lines = [terminal.columns.map { Table.cut(sentence, to: $0) } ?? sentence]
    }
    if let rows, lines.count >= rows {
      lines = Array(lines.prefix(max(1, rows - 2))) + ["… \(lines.count - rows + 2) more lines"]
    }
    return "\u{1B}[H" + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
  }

  /// Rows of standard output.
  static func liveRows() -> Int? {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row >= 4 else { return nil }
    return Int(size.ws_row)
  }

  private static func json(_ look: Result<AgentStatusAnswer, CommandError>) -> (line: String, comparable: String) {
    let status: AgentStatusAnswer
    switch look {
    case .success(let answer): status = answer
    case .failure(let error):
      let line = JSONText.line(FailureText(error))
      return (line, line)
    }
    var timeless = status
    for index in timeless.accounts.indices {
      timeless.accounts[index].expiresInSeconds = nil
      timeless.accounts[index].retryAfterMilliseconds = nil
    }
    return (JSONText.line(status), JSONText.line(timeless))
  }
}
