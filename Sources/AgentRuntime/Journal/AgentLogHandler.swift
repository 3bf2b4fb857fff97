import Logging
import Synchronization

/// Hands what is logged to an output, at the level that holds at that moment.
struct AgentLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  private let output: any LogOutput
  private let threshold: LogThreshold
  /// Of this logger alone.
  private var ownLevel: Logger.Level?

  init(output: any LogOutput, threshold: LogThreshold) {
    self.output = output
    self.threshold = threshold
  }

  var logLevel: Logger.Level {
    get { ownLevel ?? threshold.level }
    set { ownLevel = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { output.take(LogEntry(event, metadata)) }
}

/// From which level on something is logged: as the command line says, else as `config.toml` says.
final class LogThreshold: Sendable {
  private let current: Mutex<Logger.Level>
  private let isFixed: Bool

  init(commandLine: Logger.Level?) {
    isFixed = commandLine != nil
    current = Mutex(commandLine ?? .info)
  }

  var level: Logger.Level { current.withLock { $0 } }

  /// The settings as they were read.
  func follow(_ settings: AgentSettings) {
    guard !isFixed else { return }
    current.withLock { $0 = settings.logLevel.level }
  }
}

extension AgentSettings.LogLevel {
  fileprivate var level: Logger.Level {
    switch self {
    case .error: .error
    case .warning: .warning
    case .info: .info
    case .debug: .debug
    }
  }
}
