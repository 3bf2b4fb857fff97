package import AgentWire

/// What the agent tells of itself.
package struct AgentIdentity: Sendable {
  package var pid: Int32
  /// `systemd`, `on_demand` or `by_hand`.
  package var started: String
  package var startedAt: Moment
  /// Conditions that make it worse than it should be, found at the start.
  package var degraded: [AgentCondition]
  /// Where its files are, by `configuration`, `data` and `state`.
  package var folders: [String: String]
  /// Where its log is: `journal`, `standard_error`, or the path of a file.
  package var log: String?
  /// Conditions that come and go, and that the service knows nothing of.
  package var conditions: @Sendable () -> [AgentCondition]

  package init(
    pid: Int32, started: String, startedAt: Moment, degraded: [AgentCondition], folders: [String: String] = [:],
    log: String? = nil, conditions: @escaping @Sendable () -> [AgentCondition] = { [] }
  ) {
    self.pid = pid
    self.started = started
    self.startedAt = startedAt
    self.degraded = degraded
    self.folders = folders
    self.log = log
    self.conditions = conditions
  }
}
