import Synchronization

/// The accounts whose login is under way: written by the login coordinator, read by whoever tells an account's state.
final class PendingLogins: Sendable {
  private let names = Mutex<Set<String>>([])

  func set(_ account: String, _ isPending: Bool) {
    names.withLock { names in
      if isPending { names.insert(account) } else { names.remove(account) }
    }
  }

  func contains(_ account: String) -> Bool { names.withLock { $0.contains(account) } }
}
