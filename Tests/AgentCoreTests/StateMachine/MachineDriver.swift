import AgentWire
import OAuthProtocol
import Sealing
import Testing

@testable import AgentCore

/// Drives one state machine by hand: a test says when a save is durable and how a call ended, and every action is held
/// to what must be true always.
final class MachineDriver {
  var machine: AccountStateMachine
  var now = Moment(bootID: "boot-1", bootSeconds: 10_000, wallSeconds: 1_700_000_000)
  var random = 0.5

  /// What is on disk.
  private(set) var durable: AccountRecord?
  /// A save under way; `.some(nil)`: an erase.
  private(set) var saving: AccountRecord??
  /// Calls that have not ended, the oldest first.
  private(set) var open: [TokenCall] = []
  /// Whether whoever wishes to send is given a place at once.
  var givesPlaces = true
  private(set) var revoking: RevocationRecord?
  private(set) var revocationSecret: Secret?
  private(set) var sent: [TokenCall] = []
  private(set) var answers: [UInt64: Result<TokenRecord, AgentFailure>] = [:]
  private(set) var changes: [UInt64: AgentFailure?] = [:]
  private var judged: TokenRejectAnswer.Verdict?
  /// Tokens that the last `publish` made ready.
  private(set) var published: Set<Fingerprint>
  /// One word an action, in order.
  private(set) var log: [String] = []
  private var asked: Set<UInt64> = []
  private var phase = AccountStateMachine.PhaseName.idle
  /// What each phase was turned into by an event.
  private(set) var transitions: [AccountStateMachine.PhaseName: Set<AccountStateMachine.PhaseName>] = [:]
  private var lastID: UInt64 = 0

  init(_ record: AccountRecord? = .loggedIn(), _ definition: AccountDefinition? = .plain) {
    machine = AccountStateMachine("work", record: record, definition: definition)
    durable = record
    published = Set(machine.ready.map(\.fingerprint))
  }

  /// The oldest call that has not ended.
  var sending: TokenCall? { open.first }

  // MARK: Events

  /// It gets the place that it wishes for.
  func placed() { happens(.placed) }

  /// Somebody asks; returns the waiter's id.
  @discardableResult
  func ask(
    _ key: TokenKey = .standard, least: Double? = nil, rejected: String? = nil, at place: String? = nil,
    force: Bool = false, bestEffort: Bool = false, seconds: Double = 30
  ) -> UInt64 {
    lastID += 1
    let id = lastID
    asked.insert(id)
    let waiter = AccountStateMachine.Waiter(
      id: id, key: key, minimumValiditySeconds: least, rejected: rejected.map { Fingerprint(of: Secret($0)) },
      place: place, force: force, bestEffort: bestEffort, deadline: now.bootSeconds + seconds)
    happens(.asked(waiter))
    return id
  }

  @discardableResult
  func change(_ change: AccountChange) -> UInt64 {
    lastID += 1
    happens(.changed(change, lastID))
    return lastID
  }

  func reject(_ token: String, at place: String? = nil) -> TokenRejectAnswer.Verdict? {
    judged = nil
    happens(.rejected(Fingerprint(of: Secret(token)), at: place))
    return judged
  }

  func define(_ definition: AccountDefinition?) {
    let actions = machine.handle(.defined(definition), at: now)
    published = Set(machine.ready.map(\.fingerprint))
    perform(actions)
  }

  /// What is known of its servers.
  func holds(
    _ hold: ServerHold?, revocation: ServerHold? = nil, lender: AgentFailure? = nil, beside logins: [LoginAtServer] = []
  ) {
    let owed = RevocationRecord(token: StoredSecret(Secret("")), hint: "", binding: .plain, since: now)
    let lanes = ((machine.record?.revocations ?? []) + [owed]).map(RevocationQueue.Lane.init)
    let holds = revocation.map { hold in Dictionary(lanes.map { ($0, hold) }) { $1 } } ?? [:]
    _ = machine.handle(.held(hold, revocations: holds, beside: logins, lender: lender), at: now)
  }

  func serverAnswers() { _ = machine.handle(.serverAnswered, at: now) }

  /// It takes over a call that was sent before a lock.
  func adopt(_ call: TokenCall) {
    open = [call]
    happens(.adopted([call]))
  }

  /// The vault is locked, or the agent stops.
  func closes(_ failure: AgentFailure? = AgentFailure(.vaultLocked, "the vault is locked")) {
    happens(.closed(failure))
  }

  /// Another vault is put over the open one, with a newer record; nil: with an older one.
  func replaced(by found: AccountRecord?, afterRollback rollback: UInt64?) {
    if let found, saving == nil { durable = found.isEmpty ? nil : found }
    happens(.replaced(found, afterRollback: rollback))
  }

  /// The same, with an older record, and what is here is written into it.
  @discardableResult
  func writesAnew(afterRollback rollback: UInt64?, insteadOf older: AccountRecord? = nil) -> UInt64 {
    replaced(by: nil, afterRollback: rollback)
    return change(.writeAnew(insteadOf: older))
  }

  func reopens() { happens(.reopened) }

  /// The save under way has ended in the vault of before, and `found` is what there is now.
  func saved(into found: AccountRecord) {
    durable = found
    saving = nil
    happens(.saved(random: random))
  }

  /// The save under way is durable.
  func saved() {
    guard let candidate = saving else { return note("nothing is being saved") }
    durable = candidate
    saving = nil
    happens(.saved(random: random))
  }

  func saveFails() {
    guard saving != nil else { return note("nothing is being saved") }
    saving = nil
    happens(.saveFailed(AgentFailure(.storageFailed, "no space left"), random: random))
  }

  /// The oldest call that is open ends, or the one at `index`.
  func ends(_ end: TokenCallEnd, at index: Int = 0) {
    guard open.indices.contains(index) else { return note("nothing was sent") }
    let call = open.remove(at: index)
    happens(.callEnded(call.number, end, random: random))
  }

  /// The call ends, and what it led to is durable.
  func endsDurably(_ end: TokenCallEnd) {
    ends(end)
    if saving != nil { saved() }
  }

  func revocationEnds(_ end: RevocationEnd) {
    guard let revocation = revoking else { return note("nothing is being revoked") }
    revoking = nil
    lastID += 1
    happens(.revocationEnded(revocation, end, lastID, random: random))
  }

  /// What waits to be revoked is asked for.
  func asksForRevocation() { happens(.revocationAsked(before: LoginAtServer(underWayBy: .plain))) }

  /// The machine stood still before `noticed`, for `seconds` by the clock of its server.
  func ages(by seconds: Int64, before noticed: Moment) {
    lastID += 1
    func clock(_ date: Int64) -> ServerClock { ServerClock(dateSeconds: date, sent: noticed, received: noticed) }
    happens(.aged(MissedTime(clock: clock(1_000_001 + seconds), former: clock(1_000_000), noticed: noticed), lastID))
  }

  func timesOut(_ id: UInt64) { happens(.timedOut([id])) }

  func wakes() { happens(.woke(asked: nil)) }

  func pass(_ seconds: Double) { now = now.advanced(by: seconds) }

  /// Waits for the next wake, and wakes.
  func sleepAndWake() {
    let wish = machine.wish(at: now).map { _ in now.bootSeconds }
    guard let wake = [machine.wake(at: now), wish].compactMap(\.self).min() else { return note("nothing to wake for") }
    pass(max(0, wake - now.bootSeconds) + 0.001)
    wakes()
  }

  /// The agent dies and starts again with what is on disk.
  func crash(definition: AccountDefinition? = .plain) {
    machine = AccountStateMachine("work", record: durable, definition: definition)
    saving = nil
    open = []
    revoking = nil
    published = Set(machine.ready.map(\.fingerprint))
    asked = []
    phase = .idle
  }

  // MARK: Looking

  func token(_ id: UInt64) -> String? {
    guard case .success(let token) = answers[id] else { return nil }
    return token.accessToken.secret.reveal()
  }

  func failure(_ id: UInt64) -> FailureKind? { failureWhole(id)?.kind }

  func failureWhole(_ id: UInt64) -> AgentFailure? {
    guard case .failure(let failure) = answers[id] else { return nil }
    return failure
  }

  func isWaiting(_ id: UInt64) -> Bool { answers[id] == nil }

  var unanswered: Set<UInt64> { asked.subtracting(answers.keys) }

  func isDurable(_ id: UInt64) -> Bool {
    guard let answer = changes[id] else { return false }
    return answer == nil
  }

  /// Why a change was not made.
  func failed(_ id: UInt64) -> FailureKind? { changes[id]??.kind }

  // MARK: Actions, and what holds always

  func happens(_ event: AccountStateMachine.Event) { perform(machine.handle(event, at: now)) }

  private func perform(_ actions: [AccountStateMachine.Action]) {
    transitions[phase, default: []].insert(machine.phase.name)
    phase = machine.phase.name
    for action in actions {
      switch action {
      case .save(let record):
        log.append("save")
        begin()
        saving = .some(record)
      case .erase:
        log.append("erase")
        begin()
        saving = .some(nil)
      case .send(let call):
        log.append("send")
        begin()
        if let token = call.grant.refreshToken {
          #expect(
            durable?.intent?.fingerprint == Fingerprint(of: token).description,
            "a refresh token is sent only after its intent is durable")
          checkAttempt(durable?.intent?.attempt ?? 0)
        }
        open.append(call)
        sent.append(call)
      case .revoke(let revocation, let secret):
        log.append("revoke")
        #expect(revoking == nil, "one revocation at a time")
        revoking = revocation
        revocationSecret = secret
      case .publish:
        log.append("publish")
        published = Set(machine.ready.map(\.fingerprint))
      case .deliver(let id, let token):
        log.append("deliver")
        #expect(answers[id] == nil, "each waiter is answered once")
        #expect(durable?.tokens.contains(token) == true, "nobody gets a token that is not durable")
        #expect(
          published.contains(token.fingerprint) || machine.rejected[token.fingerprint] != nil,
          "published before delivered, but for one that somebody else has rejected")
        answers[id] = .success(token)
      case .refuse(let id, let failure):
        log.append("refuse")
        #expect(answers[id] == nil, "each waiter is answered once")
        answers[id] = .failure(failure)
      case .judged(let verdict): judged = verdict
      case .changed(let id, let failure):
        log.append("changed")
        #expect(changes[id] == nil, "each change is answered once")
        changes[id] = .some(failure)
      }
    }
    if givesPlaces, machine.wish(at: now) != nil { return placed() }
    check()
  }

  private func begin() {
    #expect(saving == nil, "one thing at a time")
    let isSecond = machine.definition?.reuseGraceSeconds != nil && open.count == 1
    #expect(isSecond || open.allSatisfy { machine.overtaken[$0.number] != nil }, "one thing at a time")
  }

  /// A third sending comes only when nothing can be lost by it: no access token lives.
  private func checkAttempt(_ attempt: Int) {
    #expect(attempt >= 1)
    guard attempt > 2 else { return }
    #expect(durable?.grant?.verdict?.isUnconfirmed == true, "it was told that a login seems to be needed")
    #expect(durable?.tokens.allSatisfy { ($0.remaining(at: now) ?? 0) <= 0 } == true)
  }

  /// A wake that is due makes progress, and an idle machine holds nothing back.
  private func check() {
    #expect(machine.isIdle == (saving == nil && open.allSatisfy { machine.overtaken[$0.number] != nil }))
    if machine.isIdle {
      #expect(machine.changes.isEmpty, "a change never waits for nothing")
    }
    guard let wake = machine.wake(at: now) else {
      let isStuck =
        machine.isIdle && !machine.waiters.isEmpty && machine.hold != .probing && machine.wish(at: now) == nil
      #expect(!isStuck, "waiters are never forgotten")
      return
    }
    guard wake <= now.bootSeconds else { return }
    var copy = machine
    let actions = copy.handle(.woke(asked: nil), at: now)
    #expect(!actions.isEmpty || copy.wish(at: now) != nil, "a wake that is due makes progress")
  }

  private func note(_ text: String) { Issue.record("\(text); so far: \(log.joined(separator: " "))") }
}
