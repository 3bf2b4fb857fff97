package import AgentWire
import Glibc

/// The agent's unit, where systemd tries to start it and cannot. Its socket takes callers all the same, whom nobody answers.
package struct FailingUnit: Sendable, Equatable {
  static let unit = "oauthd.service"
  /// How often it ends before that is no crash any more, which the next start heals.
  private static let mostCrashes = 3
  /// What systemd says for a program that it has not come to start (systemd.exec(5), "Process exit codes").
  private static let startCodes = 200...245

  /// What systemctl is asked.
  package static let question = [
    "--user", "show", "--property=ActiveState,Result,ExecMainStatus,NRestarts", unit,
  ]

  /// Looks at a unit that may be in the middle of a start, and what lies between them: less than the second between two
  /// starts.
  private static let looks = 3
  private static let pauseMicroseconds: UInt32 = 200_000

  /// What ended it, in systemd's word (`exit-code`, `signal`).
  private let result: String
  /// The exit status, or the signal's number.
  private let status: Int

  /// `ask` runs systemctl with ``question``; nil where that fails.
  package static func look(_ ask: () -> String?) -> FailingUnit? {
    look(pause: { usleep(pauseMicroseconds) }, ask)
  }

  static func look(pause: () -> Void, _ ask: () -> String?) -> FailingUnit? {
    for _ in 0..<looks {
      guard let text = ask() else { return nil }
      if let unit = FailingUnit(shown: text) { return unit }
      // Between two starts that fail there is, for some milliseconds, one that may not.
      guard text.split(separator: "\n").contains("ActiveState=activating") else { return nil }
      pause()
    }
    return nil
  }

  /// By what systemctl answers to ``question``; nil: it starts, it runs, or nobody has asked for it.
  package init?(shown text: String) {
    var values: [Substring: Substring] = [:]
    for line in text.split(separator: "\n") {
      guard let equals = line.firstIndex(of: "=") else { continue }
      values[line[..<equals]] = line[line.index(after: equals)...]
    }
    guard let state = values["ActiveState"], ["activating", "failed"].contains(state),
      let result = values["Result"], result != "success"
    else { return nil }
    self.result = String(result)
    status = values["ExecMainStatus"].flatMap { Int($0) } ?? 0
    let crashes = values["NRestarts"].flatMap { Int($0) } ?? 0
    guard state == "failed" || isNotBegun || crashes >= Self.mostCrashes else { return nil }
  }

  private var isNotBegun: Bool { result == "exit-code" && Self.startCodes.contains(status) }

  package var reason: String {
    let name = "\(result) \(status)"
    return isNotBegun
      ? "systemd cannot start \(Self.unit) (\(name))" : "\(Self.unit) ends each time systemd starts it (\(name))"
  }

  package var remedy: NextStep {
    .run(isNotBegun ? "systemctl --user status \(Self.unit)" : "oauthctl agent log -n 20")
  }
}
