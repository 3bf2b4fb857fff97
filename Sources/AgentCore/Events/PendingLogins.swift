import Synchronization

/// The accounts whose login is under way: written by the login coordinator, read by whoever tells an account's state.
final class PendingLogins: Sendable {
  private struct State {
    var bindings: [String: DefinitionBinding] = [:]
    var changed: Set<String> = []
  }

  private let state = Mutex(State())

  /// Nil: it has ended.
  func set(_ account: String, _ binding: DefinitionBinding?) {
    state.withLock { state in
      state.bindings[account] = binding
      state.changed.insert(account)
    }
  }

  func contains(_ account: String) -> Bool { state.withLock { $0.bindings[account] != nil } }

  /// By the names of their accounts.
  func bindings() -> [String: DefinitionBinding] { state.withLock { $0.bindings } }

  /// Those that changed since this was asked last.
  func takeChanged() -> Set<String> {
    state.withLock { state in
      defer { state.changed = [] }
      return state.changed
    }
  }
}
