import AgentWire

/// Those who wait for tokens. One sleep ends the patience of all, and what many wait for is made once.
struct TokenWaiters {
  struct Waiter: Sendable {
    enum Answered: Sendable {
      case task(CheckedContinuation<Result<GivenToken, AgentFailure>, Never>)
      case caller(TokenQuestion, CredentialService.Meaning)
    }

    let account: String
    let asked: AccountStateMachine.Waiter
    let answered: Answered
  }

  /// What a task is given, which goes on a little later: the account may have another login by then.
  struct GivenToken: Sendable {
    let token: TokenRecord
    /// `GrantRecord.loginID` of the login that it is of.
    let login: String?
  }

  /// The reply that was made last. It lives as long as somebody is still to be sent it, and nothing of the account changes.
  struct MadeReply {
    struct Key: Equatable {
      let account: String
      let fingerprint: Fingerprint
    }

    var key: Key?
    weak var token: ReadyToken?
  }

  /// What was last found of a request after its wait. Of many who ask alike it is found once.
  struct Judgement {
    let request: TokenGet
    let former: CredentialService.Meaning
    /// Nil: it means something else.
    let meaning: CredentialService.Meaning?
  }

  private var judgement: Judgement?
  private var isTelling = false
  private var waiting = Waiters<Waiter>()
  private var sleep = SharedSleep()
  private var lastReply = MadeReply()

  var isEmpty: Bool { waiting.isEmpty }
  var count: Int { waiting.count }
  /// Those of waiters who were answered, too.
  var deadlineCount: Int { waiting.deadlineCount }

  func contains(_ id: UInt64) -> Bool { waiting.contains(id) }

  /// What it asked for; nil: it was answered.
  func asked(_ id: UInt64) -> AccountStateMachine.Waiter? { waiting[id]?.asked }

  mutating func add(_ waiter: Waiter, _ id: UInt64) { waiting.add(waiter, id) }

  /// It waits until boot second `due` at most.
  mutating func limit(_ id: UInt64, to due: Double) { waiting.limit(id, to: due) }

  /// Takes out the one that is answered now; nil: it was answered before. When nobody is left, nobody sleeps.
  mutating func take(_ id: UInt64) -> Waiter? {
    guard let waiter = waiting.take(id) else { return nil }
    if waiting.isEmpty { sleep.cancel() }
    return waiter
  }

  /// Sleeps until the first of them has no patience left, and then calls `wake`, once.
  mutating func watch<Owner: Actor>(
    by time: any TimeKeeper, on owner: isolated Owner, wake: @escaping @Sendable (isolated Owner) -> Void
  ) {
    sleep.shorten(to: waiting.firstDeadline(), by: time, on: owner, wake: wake)
  }

  /// The sleep is over. By account, those who have no patience left at boot second `now`: still here, to be answered.
  mutating func overdue(at now: Double) -> [String: Set<UInt64>] {
    sleep.cancel()
    var over: [String: Set<UInt64>] = [:]
    for (id, waiter) in waiting.overdue(at: now + SharedSleep.toleranceSeconds) {
      over[waiter.account, default: []].insert(id)
    }
    return over
  }

  /// One event tells whoever waits: nothing changes meanwhile.
  mutating func beginTelling() { (isTelling, judgement) = (true, nil) }

  mutating func endTelling() { (isTelling, judgement) = (false, nil) }

  /// What was found last, where it was of this request.
  func judgement(_ request: TokenGet, _ former: CredentialService.Meaning) -> Judgement? {
    judgement.flatMap { $0.request == request && $0.former == former ? $0 : nil }
  }

  mutating func keep(_ judgement: Judgement) { if isTelling { self.judgement = judgement } }

  /// The reply that was made last, where it was for `key` and somebody still has it.
  func lastReply(_ key: MadeReply.Key) -> ReadyToken? { lastReply.key == key ? lastReply.token : nil }

  /// Something of `account` has changed, of which a reply tells.
  mutating func forgetReply(of account: String) { if lastReply.key?.account == account { lastReply = MadeReply() } }

  mutating func keep(_ reply: ReadyToken, _ key: MadeReply.Key) { lastReply = MadeReply(key: key, token: reply) }
}
