/// `agent.hello`: which protocol and capabilities this agent has.
package struct AgentHello: ParameterlessRequest {
  package typealias Answer = AgentHelloAnswer
  package static let method = Method.agentHello

  package init() {}
}

package struct AgentHelloAnswer: Codable, Sendable, Equatable {
  package var `protocol`: Int
  package var capabilities: [String]
  package var agentVersion: String

  package init(protocol: Int, capabilities: [String], agentVersion: String) {
    self.protocol = `protocol`
    self.capabilities = capabilities
    self.agentVersion = agentVersion
  }

  package enum CodingKeys: String, CodingKey {
    case `protocol`, capabilities
    case agentVersion = "agent_version"
  }
}

/// `agent.status`: the agent, its vault, then the accounts a page at a time, worst first.
package struct AgentStatus: RequestParameters, Equatable {
  package typealias Answer = AgentStatusAnswer
  package static let method = Method.agentStatus

  package var limit: Int?
  package var after: String?

  package init(limit: Int? = nil, after: String? = nil) {
    self.limit = limit
    self.after = after
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable { case limit, after }
}

package struct AgentStatusAnswer: Codable, Sendable, Equatable {
  package var pid: Int
  package var agentVersion: String
  /// `systemd`, `on_demand` or `by_hand`.
  package var started: String
  /// Unix time.
  package var startedAt: Int
  package var vault: VaultStatusAnswer
  /// Conditions that make the agent worse than it should be, one line each.
  package var degraded: [String]
  /// The same conditions, each with its kind and what helps. Nil: of an older agent.
  package var conditions: [AgentCondition]?
  /// Files that could not be used: the first problems.
  package var problems: [ConfigurationProblem]
  /// How many more there are; nil: none.
  package var problemsLeftOut: Int?
  package var counts: [String: Int]
  package var accounts: [AccountSummary]
  package var next: String?
  /// Where the agent's files are: `configuration`, `data` and `state`.
  package var folders: [String: String]?
  /// Where its log is: `journal`, `standard_error`, or the path of a file.
  package var log: String?

  package init(
    pid: Int, agentVersion: String, started: String, startedAt: Int, vault: VaultStatusAnswer, degraded: [String],
    conditions: [AgentCondition]? = nil, problems: [ConfigurationProblem], problemsLeftOut: Int? = nil,
    counts: [String: Int], accounts: [AccountSummary],
    next: String?, folders: [String: String]? = nil, log: String? = nil
  ) {
    self.pid = pid
    self.agentVersion = agentVersion
    self.started = started
    self.startedAt = startedAt
    self.vault = vault
    self.degraded = degraded
    self.conditions = conditions
    self.problems = problems
    self.problemsLeftOut = problemsLeftOut
    self.counts = counts
    self.accounts = accounts
    self.next = next
    self.folders = folders
    self.log = log
  }

  package enum CodingKeys: String, CodingKey {
    case pid, folders, log
    case agentVersion = "agent_version"
    case started
    case startedAt = "started_at"
    case vault, degraded, conditions, problems
    case problemsLeftOut = "problems_left_out"
    case counts, accounts, next
  }
}
