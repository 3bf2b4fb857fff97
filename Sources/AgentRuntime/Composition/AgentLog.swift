import AgentWire
import Glibc
import Logging

/// The agent's own log: the journal under systemd; a file for an agent that `oauthctl` started, whose standard error is
/// nothing; else standard error.
struct AgentLog: Sendable {
  /// How long the end of the process waits for the last lines.
  private static let patience = Duration.milliseconds(500)

  enum Place: Sendable, Equatable {
    case journal
    case standardError
    case file(path: String)

    /// As `agent.status` tells it.
    var name: String {
      switch self {
      case .journal: "journal"
      case .standardError: "standard_error"
      case .file(let path): path
      }
    }
  }

  let logger: Logger
  let threshold: LogThreshold
  let place: Place
  private let lines: LogLines

  /// `environment` is what the process was started with, `commandLineLevel` what `--log-level` says.
  init(environment: [String: String], commandLineLevel: Logger.Level?) {
    let threshold = LogThreshold(commandLine: commandLineLevel)
    let output: any LogOutput
    if environment["OAUTHCTL_STARTED"] == "on_demand", let paths = try? AgentPaths(environment: environment) {
      let file = LogFile(folder: paths.stateDirectory)
      lines = LogLines(file)
      place = .file(path: file.path)
      output = LineOutput(lines: lines)
    } else {
      lines = LogLines(DescriptorSink(descriptor: STDERR_FILENO))
      if let journal = JournalSocket(environment: environment) {
        place = .journal
        output = JournalOutput(identifier: "oauthd", journal: journal, otherwise: lines)
      } else {
        place = .standardError
        output = LineOutput(lines: lines)
      }
    }
    logger = Logger(label: "oauthd") { _ in AgentLogHandler(output: output, threshold: threshold) }
    self.threshold = threshold
  }

  /// What is wrong with it, for whoever asks how the agent is.
  var conditions: [AgentCondition] {
    guard let problem = lines.problem else { return [] }
    return [
      AgentCondition(
        .log, "the log cannot be written: \(problem)",
        hint: "it needs room, and to be yours alone; until then its lines are lost")
    ]
  }

  /// Why the process ends before it began.
  func tell(_ error: any Error) {
    let text = "oauthd: \(error)"
    if case .file = place { lines.write(LineOutput.line(text)) } else { lines.write(text + "\n") }
  }

  func finish() async { await lines.finish(within: Self.patience) }
}
