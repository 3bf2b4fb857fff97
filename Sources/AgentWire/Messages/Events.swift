/// `events.subscribe`: from its answer on, this connection gets what changes. The state before that is not sent: ask
/// `agent.status` after it.
package struct EventsSubscribe: ParameterlessRequest {
  package typealias Answer = EmptyResult
  package static let method = Method.eventsSubscribe

  package init() {}
}

/// What a subscribed connection gets, each a notification (JSON-RPC 2.0 §4.1). None holds a secret.
package enum AgentEvent: Sendable, Equatable {
  /// `expiresAt` is Unix time. Without a state the account is gone.
  case account(String, state: AccountSummary.State?, reason: String? = nil, expiresAt: Int? = nil)
  /// It stands for every account too: which there are and how they are is new.
  case vault(VaultStatusAnswer.State, reason: String? = nil)
  /// How many problems the configuration files have.
  case problems(Int)
  /// How many events were lost, because this connection was too slow.
  case lost(Int)

  /// The whole line, line feed included.
  package var line: [UInt8] {
    Array(#"{"jsonrpc":"2.0","method":"\#(name.rawValue)","params":"#.utf8)
      + (WireJSON.encode(self) ?? Array("{}".utf8)) + Array("}\n".utf8)
  }

  package enum Name: String, CaseIterable, Sendable {
    case account = "events.account"
    case vault = "events.vault"
    case problems = "events.problems"
    case lost = "events.lost"
  }

  package var name: Name {
    switch self {
    case .account: .account
    case .vault: .vault
    case .problems: .problems
    case .lost: .lost
    }
  }
}

extension AgentEvent: Encodable {
  private enum CodingKeys: String, CodingKey {
    case account, state, reason, count
    case expiresAt = "expires_at"
  }

  package func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .account(let account, let state, let reason, let expiresAt):
      try members.encode(account, forKey: .account)
      try members.encodeIfPresent(state, forKey: .state)
      try members.encodeIfPresent(reason, forKey: .reason)
      try members.encodeIfPresent(expiresAt, forKey: .expiresAt)
    case .vault(let state, let reason):
      try members.encode(state, forKey: .state)
      try members.encodeIfPresent(reason, forKey: .reason)
    case .problems(let count), .lost(let count):
      try members.encode(count, forKey: .count)
    }
  }
}
