import AgentWire
import Logging

/// Writes each log line as a journal entry with fields of its own: `OAUTHCTL_EVENT` and one for each other key of the
/// metadata, `OAUTHCTL_ACCOUNT` for `account`. What can be said to people stands in `MESSAGE`.
struct JournalOutput: LogOutput {
  /// Longest value, in characters: an entry has to fit into one datagram.
  private static let valueLimit = 1_024

  let identifier: String
  let journal: JournalSocket
  /// Standard error, for what the journal does not take.
  let otherwise: LogLines

  func take(_ entry: LogEntry) {
    let priority = Self.priority(entry.level)
    var fields = [("MESSAGE", entry.message), ("PRIORITY", "\(priority)"), ("SYSLOG_IDENTIFIER", identifier)]
    if let kind = entry.kind { fields.append(("OAUTHCTL_EVENT", kind)) }
    if let kind = entry.kind, let id = Self.messageIDs[kind] { fields.append(("MESSAGE_ID", id)) }
    for (key, value) in entry.values.sorted(by: { $0.key < $1.key }) {
      guard let name = Self.fieldName(key) else { continue }
      fields.append((name, value))
    }
    // No value has a line feed once it is escaped, so each is a line of its own.
    let text = fields.map { "\($0)=\(PrintableText.escaped($1, limit: Self.valueLimit))\n" }.joined()
    if !journal.send(Array(text.utf8)) {
      otherwise.write("<\(priority)>\(PrintableText.escaped(entry.message, limit: Self.valueLimit))\n")
    }
  }

  /// syslog(3)'s number.
  static func priority(_ level: Logger.Level) -> Int {
    switch level {
    case .critical: 2
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug, .trace: 7
    }
  }

  /// Field names have capitals, digits and underscores (systemd.journal-fields(7)); nil for another key.
  static func fieldName(_ key: String) -> String? {
    guard !key.isEmpty, key.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x5F }) else { return nil }
    return "OAUTHCTL_" + key.uppercased()
  }

  /// What can be looked for, by the word in `OAUTHCTL_EVENT`. Never changed once released.
  static let messageIDs = [
    "logged_in": "6a84c1d682e14d308b15d4f539e9049b",
    "login_failed": "c5ee86533ba644f5b5b9928e38128f90",
    "token_granted": "900a69393fb04e958816686333b6ff76",
    "token_failed": "e0d7288ba5b947b581c8a16b9713565d",
    "locked": "6e2284d73f4b463c9901ff7f7a2b87c4",
    "storage_failed": "8eec45c7f40d49a999c4cd4a97c35915",
  ]
}
