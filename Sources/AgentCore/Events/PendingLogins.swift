import Synchronization

/// The accounts whose login is under way: written by the login coordinator, read by whoever tells an account's state.
final class PendingLogins: Sendable {
  private struct State {
    var names: Set<String> = []
    var changed: Set<String> = []
  }

  private let state = Mutex(State())

  func set(_ account: String, _ isPending: Bool) {
    state.withLock { state in
      if isPending { state.names.insert(account) } else { state.names.remove(account) }
      state.changed.insert(account)
    }
  }

  func contains(_ account: String) -> Bool { state.withLock { $0.names.contains(account) } }

  /// Those that changed since this was asked last.
  func takeChanged() -> Set<String> {
    state.withLock { state in
      defer { state.changed = [] }
      return state.changed
    }
  }
}
