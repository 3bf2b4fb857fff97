package import AgentWire

/// What keeps an account from sending to its server, although nothing is wrong with the account.
package enum ServerHold: Sendable, Equatable {
  /// Another account is asking it right now; how that ends decides.
  case probing
  /// It could not be reached. Boot times of the next try by plan, and of the next one for somebody who asks.
  case until(planned: Double, asked: Double, reason: String)
  /// An account whose token it needs gave none. Boot times as above.
  indirect case lender(AgentFailure, planned: Double, asked: Double)
}

/// Keeps a server that cannot be reached from being asked by every account: after five different accounts in a row it
/// is asked by one account at a time, with back-off. Any answer ends that, whatever it says.
package struct ServerCircuit: Sendable, Equatable {
  /// Accounts that must have failed to reach it, with no answer in between: one or two may have a trouble of their own.
  package static let accounts = 5

  private var failed: Set<String> = []
  private var backoff = Backoff()
  /// The account that asks while it is open.
  package private(set) var probe: String?

  package init() {}

  package var isOpen: Bool { failed.count >= Self.accounts }

  /// Boot time at which one account may try by plan; nil while it is closed.
  package var plannedAt: Double? { isOpen ? backoff.plannedAt : nil }

  /// One line for people while it is open.
  package var reason: String? { isOpen ? backoff.reason : nil }

  /// What keeps `account` from sending; nil: it may send.
  package var hold: ServerHold? {
    guard isOpen else { return nil }
    guard probe == nil, let planned = backoff.plannedAt, let asked = backoff.askedAt else { return .probing }
    return .until(planned: planned, asked: asked, reason: backoff.reason ?? "it cannot be reached")
  }

  package func hold(for account: String) -> ServerHold? { probe == account ? nil : hold }

  /// `account` has begun to ask.
  package mutating func began(_ account: String) {
    if isOpen, probe == nil { probe = account }
  }

  /// A request of `account` did not reach it, or brought no answer, at boot time `now`. `spread` is in 0..<1.
  package mutating func didFail(_ account: String, _ reason: String, at now: Double, spread: Double) {
    let wasOpen = isOpen
    failed.insert(account)
    // A request that was under way when it opened says nothing new.
    guard isOpen, !wasOpen || probe == account else { return }
    probe = nil
    backoff.fail(reason, at: now, spread: spread)
  }

  /// `account` asks no longer and got no answer: another account may ask.
  package mutating func gaveUp(_ account: String) {
    if probe == account { probe = nil }
  }

  /// It answered.
  package mutating func didAnswer() { self = ServerCircuit() }
}
