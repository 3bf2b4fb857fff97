import AgentWire
import OAuthProtocol
import Sealing
import Testing

@testable import AgentCore

/// One account, its disk and a server with strict rotation, through every order of events up to a depth: a wait for a
/// place, a lock, an unlock, a kill, answers that come late or not at all.
@Suite("Every order of events: nothing is lost that the agent could keep")
struct ExplorationTests {
  @Test("with all rules in place no order of events breaks a promise")
  func holds() {
    let found = Exploration(Rules()).run(depth: 11)
    #expect(found.violation == nil)
    #expect(found.steps > 20_000, "the world is large enough to be worth exploring")
  }

  @Test("an intent that is written before there is a place is found")
  func intentFirst() {
    let found = Exploration(Rules(placeComesFirst: false)).run(depth: 6)
    #expect(found.violation?.contains("counts as sent") == true, "\(found)")
  }

  @Test("a lock that leaves wishes in the queue is found")
  func lockLeavesWishes() {
    let found = Exploration(Rules(lockCloses: false)).run(depth: 7)
    #expect(found.violation?.contains("after the lock") == true, "\(found)")
  }

  @Test("an unlock that forgets the calls of before the lock is found")
  func forgetsCalls() {
    let found = Exploration(Rules(unlockAdopts: false)).run(depth: 9)
    #expect(found.violation?.contains("twice at once") == true, "\(found)")
  }

  @Test("an answer that is dropped because it came after the lock is found")
  func dropsLateAnswers() {
    let found = Exploration(Rules(keepsLateAnswers: false)).run(depth: 9)
    #expect(found.violation?.contains("thrown away") == true, "\(found)")
  }
}

/// What keeps the promises, each to be taken away alone.
struct Rules {
  var placeComesFirst = true
  var lockCloses = true
  var unlockAdopts = true
  var keepsLateAnswers = true
}

struct Exploration {
  let rules: Rules
  private var steps = 0

  init(_ rules: Rules) { self.rules = rules }

  func run(depth: Int) -> (violation: String?, steps: Int) {
    var copy = self
    let violation = copy.explore(World(), depth)
    return (violation, copy.steps)
  }

  private mutating func explore(_ world: World, _ depth: Int) -> String? {
    if let violation = world.violation { return "\(violation): \(world.trace.joined(separator: ", "))" }
    guard depth > 0 else { return nil }
    for event in world.events(rules) {
      steps += 1
      var next = world
      next.trace.append("\(event)")
      next.happen(event, rules)
      if let violation = explore(next, depth - 1) { return violation }
    }
    return nil
  }
}

/// The account in its world. A value, so that each branch has its own.
struct World {
  enum Event {
    case ask, place, save, lock, locked, unlock, kill, hours
    /// The server takes the request, the answer arrives, the connection breaks.
    case act(Int), answer(Int), lose(Int)
  }

  private struct Request {
    let call: TokenCall
    let token: String
    /// What the server did with it.
    var outcome: TokenCallEnd?
    /// The agent that sent it is dead.
    var isOrphan = false
  }

  private enum Vault { case open, locking, locked }

  private var machine: AccountStateMachine?
  private var durable = AccountRecord.expired()
  private var saving: AccountRecord?
  private var requests: [Request] = []
  private var vault = Vault.open
  private var letters: [LateToken] = []
  private var generation: UInt32 = 0
  private var now = Moment.start
  private var current = 1
  private var isAlive = true
  private var hasRefused = false
  /// Places given for the refresh token that is on disk.
  private var places = 0
  /// A kill or a broken connection may have taken an answer along.
  private var mayHaveLost = false
  private var asks = 0
  private var disturbances = 0
  private(set) var violation: String?
  var trace: [String] = []

  init() { start() }

  private mutating func start() {
    generation += 1
    machine = AccountStateMachine(
      "work", record: durable, definition: .plain.with { $0.keep = .onDemand }, generation: generation)
  }

  private var token: String { durable.refreshToken ?? "" }

  // MARK: Events

  func events(_ rules: Rules) -> [Event] {
    var events: [Event] = []
    if saving != nil { events.append(.save) }
    for (index, request) in requests.enumerated() {
      events.append(request.outcome == nil ? .act(index) : .answer(index))
      if !request.isOrphan, disturbances < 2 { events.append(.lose(index)) }
    }
    if machine?.wish(at: now) != nil, rules.placeComesFirst || machine?.record?.intent != nil { events.append(.place) }
    if vault == .open, asks < 2 { events.append(.ask) }
    if disturbances < 2 {
      if vault == .open { events.append(.lock) }
      events.append(.kill)
    }
    if vault == .locking, saving == nil { events.append(.locked) }
    if vault == .locked { events.append(.unlock) }
    if vault == .open, disturbances > 0, !trace.contains("hours") { events.append(.hours) }
    return events
  }

  mutating func happen(_ event: Event, _ rules: Rules) {
    switch event {
    case .ask:
      asks += 1
      happen(.asked(.init(id: UInt64(asks), deadline: now.bootSeconds + 30)))
      if !rules.placeComesFirst, machine?.wish(at: now) != nil { happen(.placed) }
    case .place:
      places += 1
      happen(.placed)
    case .save:
      guard let record = saving else { return }
      if record.refreshToken != durable.refreshToken { places = 0 }
      durable = record
      saving = nil
      happen(.saved(random: 0.5))
      letters = letters.filter { [token] in $0.refreshToken.secret.reveal() != token }
    case .act(let index): act(index)
    case .answer(let index):
      let request = requests.remove(at: index)
      if let outcome = request.outcome, !request.isOrphan { arrive(outcome, to: request, rules) }
    case .lose(let index):
      disturbances += 1
      let request = requests.remove(at: index)
      mayHaveLost = mayHaveLost || request.outcome != nil
      arrive(.sentNoAnswer("the connection broke"), to: request, rules)
    case .lock:
      disturbances += 1
      vault = .locking
      if rules.lockCloses {
        happen(.closed(AgentFailure(.vaultLocked, "locked")))
      }
    case .locked:
      vault = .locked
      if rules.lockCloses { machine = nil }
    case .unlock: unlock(rules)
    case .kill: kill()
    case .hours:
      now = now.advanced(by: 7_200)
      happen(.woke(asked: nil))
    }
    check()
  }

  private mutating func act(_ index: Int) {
    let request = requests[index]
    guard isAlive, request.token == "r\(current)" else {
      // Reuse detection: the whole family is revoked.
      isAlive = false
      hasRefused = true
      requests[index].outcome = .invalidGrant
      return
    }
    current += 1
    requests[index].outcome = .granted("a\(current)", refreshToken: "r\(current)")
  }

  private mutating func arrive(_ end: TokenCallEnd, to request: Request, _ rules: Rules) {
    if machine?.awaits(request.call.number) == true {
      return happen(.callEnded(request.call.number, end, random: 0.5))
    }
    guard rules.keepsLateAnswers, case .answered(let answer) = end, let token = answer.salvagedRefreshToken else {
      return
    }
    let late = LateToken(
      refreshToken: StoredSecret(token), sent: Fingerprint(of: Secret(request.token)).description, received: now,
      lifeSeconds: nil, binding: .plain)
    if vault == .locked { letters.append(late) } else { happen(.changed(.lateToken(late), 0)) }
  }

  private mutating func unlock(_ rules: Rules) {
    vault = .open
    start()
    happen(.late(letters))
    if machine?.unsaved == nil, rules.unlockAdopts, durable.intent != nil {
      let token = token
      let open = requests.filter { !$0.isOrphan && $0.token == token }.map(\.call)
      happen(.adopted(open))
    }
    happen(.woke(asked: nil))
  }

  private mutating func kill() {
    disturbances += 1
    mayHaveLost = mayHaveLost || saving?.refreshToken != durable.refreshToken && saving != nil
    // The server may take what is on its way, and nobody hears of it.
    if !requests.isEmpty { mayHaveLost = true }
    for index in requests.indices { requests[index].isOrphan = true }
    saving = nil
    if vault != .locked { vault = .open }
    machine = nil
    if vault == .open { unlock(Rules(unlockAdopts: false)) }
  }

  private mutating func happen(_ event: AccountStateMachine.Event) {
    guard let before = machine?.phase.name else { return }
    let actions = machine?.handle(event, at: now) ?? []
    if let after = machine?.phase.name, after != before, !before.next.contains(after) {
      violation = "\(before) became \(after)"
    }
    for action in actions {
      switch action {
      case .save(let record): saving = record
      case .send(let call): send(call)
      case .erase, .revoke, .publish, .deliver, .refuse, .judged, .changed: break
      }
    }
  }

  private mutating func send(_ call: TokenCall) {
    guard let secret = call.grant.refreshToken else { return }
    if vault != .open { violation = "sent after the lock was asked for" }
    if requests.contains(where: { !$0.isOrphan && $0.token == secret.reveal() }) { violation = "sent twice at once" }
    requests.append(Request(call: call, token: secret.reveal()))
  }

  // MARK: Promises

  private mutating func check() {
    if let intent = durable.intent, intent.attempt > places { violation = "what only waited counts as sent" }
    if let verdict = durable.grant?.verdict, verdict.isUnconfirmed != true, !hasRefused {
      violation = "a login ended without the server's word"
    }
    if !isAlive, !mayHaveLost { violation = violation ?? "the family was revoked, and no answer was lost" }
    let isQuiet = saving == nil && requests.isEmpty && vault == .open && machine?.isIdle == true
    if isQuiet, !mayHaveLost, machine?.latest?.refreshToken != "r\(current)" {
      violation = violation ?? "the only refresh token was thrown away"
    }
  }
}
