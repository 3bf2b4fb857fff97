import Synchronization

/// The accounts whose login is under way: written by the login coordinator, read by whoever tells an account's state.
final class PendingLogins: Sendable {
  private struct State {
    var logins: [String: DefinitionBinding] = [:]
    var changed: Set<String> = []
  }

  private let state = Mutex(State())

  /// Nil: it has ended.
  func set(_ account: String, _ binding: DefinitionBinding?) {
    state.withLock { state in
      state.logins[account] = binding
      state.changed.insert(account)
    }
  }

  func contains(_ account: String) -> Bool { binding(of: account) != nil }

  /// What its login is to be bound to; nil: none is under way.
  func binding(of account: String) -> DefinitionBinding? { state.withLock { $0.logins[account] } }

  /// What they are to be bound to.
  var bindings: [DefinitionBinding] { state.withLock { Array($0.logins.values) } }

  /// Those that changed since this was asked last.
  func takeChanged() -> Set<String> {
    state.withLock { state in
      defer { state.changed = [] }
      return state.changed
    }
  }
}
