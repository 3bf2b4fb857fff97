import AgentWire
import Glibc

/// What `oauthctl agent status` tells, for people and as JSON.
struct AgentReport: Encodable, Sendable {
  var pid: Int
  var agentVersion: String
  var started: String
  var startedAt: Int
  var socket: String
  var folders: [String: String]?
  /// `journal`, `standard_error`, or the path of a file; nil: an older agent, which does not tell.
  var log: String?
  var vault: VaultStatusAnswer
  /// How many are defined.
  var accounts: Int?
  var degraded: [String]

  private enum CodingKeys: String, CodingKey {
    case pid, started, socket, folders, log, vault, accounts, degraded
    case agentVersion = "agent_version"
    case startedAt = "started_at"
  }

  init(_ status: AgentStatusAnswer, socket: String) {
    pid = status.pid
    agentVersion = status.agentVersion
    started = status.started
    startedAt = status.startedAt
    self.socket = socket
    folders = status.folders
    log = status.log
    vault = status.vault
    accounts = status.counts["accounts"]
    degraded = status.degraded
  }

  func lines(_ environment: Environment, now: Int = time(nil)) -> [String] {
    var rows = [
      ("agent", "pid \(pid), version \(agentVersion), \(Self.words(started: started))"),
      ("since", "\(Self.text(localTime: startedAt)) (\(Duration.text(seconds: now - startedAt)))"),
      ("socket", environment.abbreviated(socket)),
    ]
    for name in ["configuration", "data", "state"] {
      if let folder = folders?[name] { rows.append((name, environment.abbreviated(folder))) }
    }
    rows.append(("log", Self.words(log: log, environment)))
    rows.append(("vault", vault.reason ?? StatusPage.vaultState(vault)))
    if let accounts { rows.append(("accounts", "\(accounts)")) }
    rows += degraded.map { ("degraded", $0) }
    let width = rows.reduce(0) { max($0, $1.0.count) } + 2
    return rows.map { name, text in
      name + String(repeating: " ", count: width - name.count) + PrintableText.escaped(text, limit: 4_096)
    }
  }

  static func words(started: String) -> String {
    switch started {
    case "systemd": "started by systemd"
    case "on_demand": "started on demand"
    case "by_hand": "started by hand"
    default: PrintableText.escaped(started)
    }
  }

  private static func words(log: String?, _ environment: Environment) -> String {
    switch log {
    case nil: "not told"
    case "journal": "the journal: journalctl --user --unit oauthd"
    case "standard_error": "its standard error"
    case let path?: environment.abbreviated(path)
    }
  }

  private static func text(localTime seconds: Int) -> String {
    var (moment, parts) = (time_t(seconds), tm())
    // They may name a file elsewhere, which may be a pipe.
    unsetenv("TZDIR")
    if let zone = getenv("TZ").map({ String(cString: $0) }),
      zone.hasPrefix("/") || zone.hasPrefix(":") || zone.contains("..")
    {
      unsetenv("TZ")
    }
    localtime_r(&moment, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
