import AgentWire

/// What one look at one thing found.
struct Finding: Sendable, Equatable {
  enum Level: String, Sendable, Encodable {
    case ok
    /// Works, and could be better.
    case note
    /// Does not work, or will not.
    case wrong
  }

  /// What was looked at: stable, for programs.
  var check: String
  var level: Level
  /// One line for people.
  var message: String
  /// Never nil where something is wrong.
  var fix: NextStep?
  /// The account it is about.
  var account: String?
  /// The accounts that it concerns, where it is one fault of several; nil: no other than `account`.
  var accounts: [String]?
  /// What is the same wherever this fault is found, though the words may differ; nil: the words are.
  var fault: String?

  static func ok(_ check: String, _ message: String) -> Finding {
    Finding(check: check, level: .ok, message: message, fix: nil)
  }

  static func note(_ check: String, _ message: String, _ fix: NextStep? = nil) -> Finding {
    Finding(check: check, level: .note, message: message, fix: fix)
  }

  static func wrong(_ check: String, _ message: String, _ fix: NextStep) -> Finding {
    Finding(check: check, level: .wrong, message: message, fix: fix)
  }

  func about(_ account: String) -> Finding {
    var finding = self
    finding.account = account
    return finding
  }
}

extension Finding: Encodable {
  private enum CodingKeys: String, CodingKey {
    case check, level, message, fix, account, accounts
    case fixKind = "fix_kind"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(check, forKey: .check)
    try container.encode(level, forKey: .level)
    try container.encode(message, forKey: .message)
    try container.encodeIfPresent(fix?.text, forKey: .fix)
    try container.encodeIfPresent(fix?.kind, forKey: .fixKind)
    try container.encodeIfPresent(account, forKey: .account)
    try container.encodeIfPresent(accounts, forKey: .accounts)
  }
}

/// All findings of one examination.
struct DoctorReport: Sendable, Equatable, Encodable {
  var findings: [Finding]
  /// Then accounts cannot be looked at.
  var isVaultLocked = false

  var isHealthy: Bool { !findings.contains { $0.level == .wrong } }

  private enum CodingKeys: String, CodingKey { case healthy, findings }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(isHealthy, forKey: .healthy)
    try container.encode(findings, forKey: .findings)
  }
}
