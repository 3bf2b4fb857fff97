import AgentWire
import Glibc
import HTTPTerms
import Logging

/// What a log keeps of one event, before it is an entry of the journal or a line.
struct LogEntry: Sendable {
  var level: Logger.Level
  var text: String
  /// The word for what happened, `event` in the metadata.
  var kind: String?
  /// The rest of the metadata.
  var values: [String: String]

  init(_ event: LogEvent, _ common: Logger.Metadata) {
    level = event.level
    text = "\(event.message)"
    values = common.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
    kind = values.removeValue(forKey: "event")
  }

  /// `account: text: reason (key=value, …)`.
  var message: String {
    var rest = values
    let account = rest.removeValue(forKey: "account").map { "\($0): " } ?? ""
    let reason = rest.removeValue(forKey: "reason").map { ": \($0)" } ?? ""
    var others = ""
    // By hand: every start writes a line, and the first `joined` of a process costs a hundredth of a start.
    for (key, value) in rest.sorted(by: { $0.key < $1.key }) {
      others += others.isEmpty ? "\(key)=\(value)" : ", \(key)=\(value)"
    }
    return account + text + reason + (others.isEmpty ? "" : " (\(others))")
  }
}

/// Where entries go.
protocol LogOutput: Sendable {
  /// Returns at once: whoever logs may be the thread that serves everybody.
  func take(_ entry: LogEntry)
}

/// Entries as lines: when, how grave, what.
struct LineOutput: LogOutput {
  /// Longest message, in characters: the longest of ours, with a path and a server's code, is a tenth.
  private static let messageLimit = 2_048

  let lines: LogLines

  func take(_ entry: LogEntry) {
    lines.write(Self.line("\(entry.level): \(PrintableText.escaped(entry.message, limit: Self.messageLimit))"))
  }

  /// `text` with the time, which is UTC: a time zone would be looked up in files.
  static func line(_ text: String) -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    // Three digits, with zeros in front.
    let milliseconds = String(now.tv_nsec / 1_000_000 + 1_000).dropFirst()
    return "\(CivilTime(unixSeconds: now.tv_sec).rfc3339.dropLast()).\(milliseconds)Z \(text)\n"
  }
}
