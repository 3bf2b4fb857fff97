package import AgentWire
import HTTPTerms
import Synchronization

/// The tokens that the event loop answers with, one per account, and the accounts that a URL may mean: written by the
/// credential service alone, before it answers anybody, and read by the listener.
package final class ReadyTokens: Sendable {
  private struct Entry {
    var token: ReadyToken?
    /// As one that a URL may mean; nil unless the account is logged in.
    var candidate: AccountSelection.Candidate?
    /// Boot time of the last answer.
    var asked: Double?
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var wall: ClockStepDetector?
    /// Accounts whose server has still to tell the time, after the wall clock has moved.
    var awaitingClock: Set<String> = []
    /// The accounts whose files name an origin.
    var names: [String: Set<String>] = [:]
    /// Origins of logins whose files nobody can read. Nil: it is not known which these are, or the files are being taken
    /// over just now; then no URL alone is answered.
    var unread: Set<String>?

    mutating func take(_ name: String, _ minimumValiditySeconds: Int?, at now: Moment) -> ReadyToken? {
      guard let index = entries.index(forKey: name), let token = entries.values[index].token,
        token.suffices(minimumValiditySeconds, at: now.bootSeconds), wall?.hasMoved(at: now) != true,
        !awaitingClock.contains(name)
      else { return nil }
      entries.values[index].asked = now.bootSeconds
      return token
    }

    /// The account that a request with this URL and, where it has one, this name means; nil where that is not plain.
    func account(_ name: String?, _ url: WebURL, _ origin: String) -> String? {
      if let name { return entries[name]?.candidate?.hosts.served.contains(origin) == true ? name : nil }
      guard let unread, !unread.contains(origin), let names = names[origin], names.count <= ReadyTokens.mostAtHost
      else { return nil }
      let fitting = names.compactMap { entries[$0]?.candidate }.filter { $0.hosts.served.contains(origin) }
      let left = AccountSelection.preferred(fitting, path: url.path)
      return left.count == 1 ? left[0].name : nil
    }
  }

  /// Where more accounts share a host the service chooses: everybody else waits for the event loop meanwhile.
  package static let mostAtHost = 16

  private let state = Mutex(State())

  package init() {}

  /// Sets or removes the token of `account`, and what it is as one that a URL may mean.
  package func set(_ token: ReadyToken?, _ candidate: AccountSelection.Candidate?, for account: String) {
    state.withLock { state in
      guard token != nil || candidate != nil else {
        state.entries[account]?.token = nil
        state.entries[account]?.candidate = nil
        return
      }
      state.entries[account, default: Entry()].token = token
      state.entries[account]?.candidate = candidate
    }
  }

  /// Forgets every token, and who is logged in. Whose server has still to tell the time waits for that all the same.
  package func removeAll() {
    state.withLock { state in
      for index in state.entries.values.indices {
        state.entries.values[index].token = nil
        state.entries.values[index].candidate = nil
      }
    }
  }

  /// Forgets `account` whole.
  package func remove(_ account: String) {
    state.withLock { state in
      state.entries[account] = nil
      state.awaitingClock.remove(account)
    }
  }

  /// What answers `request` at once; notes that its token was asked for. Nil: it has to be decided by the service.
  package func answer(to request: TokenLine.Request, at now: Moment) -> ReadyAnswer? {
    guard let text = request.url else {
      guard let name = request.account else { return nil }
      return token(for: name, minimumValiditySeconds: request.minValiditySeconds, at: now).map {
        ReadyAnswer(token: $0)
      }
    }
    guard let url = try? WebURL(text) else { return nil }
    let origin = url.origin.description
    return state.withLock { state in
      state.account(request.account, url, origin)
        .flatMap { state.take($0, request.minValiditySeconds, at: now) }
        .map { ReadyAnswer(token: $0, matchedHost: origin) }
    }
  }

  /// The token for `account` when it is valid long enough; notes that it was asked for. None while it is open what a
  /// wall clock that moved means for their lives.
  package func token(for account: String, minimumValiditySeconds: Int?, at now: Moment) -> ReadyToken? {
    state.withLock { $0.take(account, minimumValiditySeconds, at: now) }
  }

  /// Whether the wall clock moved since the last `trustWall`.
  package func hasWallMoved(at now: Moment) -> Bool { state.withLock { $0.wall?.hasMoved(at: now) ?? false } }

  /// From `now` on the wall clock counts as it is, but nothing is given of `accounts` until their server has told the time.
  package func awaitClocks(of accounts: some Sequence<String>, at now: Moment) {
    state.withLock { state in
      state.wall = ClockStepDetector(at: now)
      state.awaitingClock = Set(accounts)
    }
  }

  /// Their server has told the time, or is not waited for any longer.
  package func clockIsTold(to accounts: some Sequence<String>) {
    state.withLock { $0.awaitingClock.subtract(accounts) }
  }

  /// The entries are right by the clocks as they are now.
  package func trustWall(at now: Moment) { state.withLock { $0.wall = ClockStepDetector(at: now) } }

  /// Boot time of the last answer for `account`.
  package func asked(_ account: String) -> Double? { state.withLock { $0.entries[account]?.asked } }
}

/// Which accounts a URL may mean.
extension ReadyTokens {
  /// The file of `account` names the origins `after`, where it named `before`.
  package func nameHosts(of account: String, before: [String], after: [String]) {
    guard before != after else { return }
    state.withLock { state in
      for origin in before {
        state.names[origin]?.remove(account)
        if state.names[origin]?.isEmpty == true { state.names[origin] = nil }
      }
      for origin in after { state.names[origin, default: []].insert(account) }
    }
  }

  /// The accounts whose files name `origin`.
  package func accounts(naming origin: String) -> Set<String> { state.withLock { $0.names[origin] ?? [] } }

  /// No file is known any more.
  package func forgetHosts() {
    state.withLock { state in
      state.names = [:]
      state.unread = nil
    }
  }

  /// From now on URLs alone are answered too, except those whose origins are `unread`; nil: no URL alone is answered.
  package func answerURLs(unread: Set<String>?) { state.withLock { $0.unread = unread } }
}
