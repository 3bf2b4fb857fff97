/// What one look at one thing found.
struct Finding: Sendable, Equatable {
  enum Level: String, Sendable, Encodable {
    case ok
    /// Works, and could be better.
    case note
    /// Does not work, or will not.
    case wrong
  }

  /// What to do about it.
  enum Fix: Sendable, Equatable {
    /// A command to type.
    case run(String)
    case advice(String)

    /// The next step that an agent or another part of this program names.
    init(step: String) { self = Terminal.isCommand(step) ? .run(step) : .advice(step) }

    var text: String {
      switch self {
      case .run(let text), .advice(let text): text
      }
    }

    /// As a line for people.
    var line: String {
      switch self {
      case .run(let command): "run: " + command
      case .advice(let text): text
      }
    }
  }

  /// What was looked at: stable, for programs.
  var check: String
  var level: Level
  /// One line for people.
  var message: String
  /// Never nil where something is wrong.
  var fix: Fix?
  /// The account it is about.
  var account: String?

  static func ok(_ check: String, _ message: String) -> Finding {
    Finding(check: check, level: .ok, message: message, fix: nil)
  }

  static func note(_ check: String, _ message: String, _ fix: Fix? = nil) -> Finding {
    Finding(check: check, level: .note, message: message, fix: fix)
  }

  static func wrong(_ check: String, _ message: String, _ fix: Fix) -> Finding {
    Finding(check: check, level: .wrong, message: message, fix: fix)
  }

  func about(_ account: String) -> Finding {
    var finding = self
    finding.account = account
    return finding
  }
}

extension Finding: Encodable {
  private enum CodingKeys: String, CodingKey { case check, level, message, fix, account }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(check, forKey: .check)
    try container.encode(level, forKey: .level)
    try container.encode(message, forKey: .message)
    try container.encodeIfPresent(fix?.text, forKey: .fix)
    try container.encodeIfPresent(account, forKey: .account)
  }
}

/// All findings of one examination.
struct DoctorReport: Sendable, Equatable, Encodable {
  var findings: [Finding]

  var isHealthy: Bool { !findings.contains { $0.level == .wrong } }

  private enum CodingKeys: String, CodingKey { case healthy, findings }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(isHealthy, forKey: .healthy)
    try container.encode(findings, forKey: .findings)
  }
}
