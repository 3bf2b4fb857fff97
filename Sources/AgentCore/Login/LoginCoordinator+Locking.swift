/// What a lock, a logout and a stop want of the logins.
extension LoginCoordinator {
  /// The vault is being locked: ends every login, except those that may be given tokens at this moment, and forgets them.
  /// One that is beginning fails. `isLast` spares none: nothing can be kept any more.
  package func forgetAll(isLast: Bool = true) {
    epoch += 1
    for (id, session) in sessions where isLast || !session.isReceiving {
      if case .keeping = session.state { continue }
      end(id, .failure(.vaultLocked))
      sessions[id] = nil
    }
    order.removeAll { sessions[$0] == nil }
  }

  /// Waits for the login of `account` that is under way, `seconds` at most; at once when there is none.
  package func settled(_ account: String, seconds: Double) async {
    guard let session = pending(account) else { return }
    _ = await ending(of: session.id, seconds: seconds)
  }

  package func isPending(_ account: String) -> Bool { pending(account) != nil }

  /// Whether one is beginning, too.
  func isBusy(_ account: String) -> Bool { starting[account] != nil || isPending(account) }
}
