import Synchronization

/// The accounts whose login is under way: written by the login coordinator, read by whoever tells an account's state.
final class PendingLogins: Sendable {
  struct Login: Sendable {
    let binding: DefinitionBinding
    /// When it began.
    let since: Moment
  }

  private struct State {
    var logins: [String: Login] = [:]
    var changed: Set<String> = []
  }

  private let state = Mutex(State())

  /// Nil: it has ended.
  func set(_ account: String, _ binding: DefinitionBinding?, at now: Moment) {
    state.withLock { state in
      state.logins[account] = binding.map { Login(binding: $0, since: state.logins[account]?.since ?? now) }
      state.changed.insert(account)
    }
  }

  func contains(_ account: String) -> Bool { state.withLock { $0.logins[account] != nil } }

  /// By the names of their accounts.
  func all() -> [String: Login] { state.withLock { $0.logins } }

  /// Those that changed since this was asked last.
  func takeChanged() -> Set<String> {
    state.withLock { state in
      defer { state.changed = [] }
      return state.changed
    }
  }
}
