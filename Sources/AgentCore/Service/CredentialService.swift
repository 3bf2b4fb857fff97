package import AgentWire
import FoundationEssentials
package import Logging
package import OAuthProtocol
package import Sealing
package import TokenVault

/// All accounts: drives one state machine each, performs its actions, and is the only writer of the ready tokens.
///
/// Nothing read before an `await` is used after it without asking the state machine again.
package actor CredentialService {
  /// One account, defined or still kept.
  struct Account {
    var machine: AccountStateMachine
    let id: RecordID
    /// Version of the last put.
    var version: UInt64
    var timer: Task<Void, Never>?
    /// Those who wait for the end of a revocation.
    var revocationWaiters: [CheckedContinuation<RevocationEnd?, Never>] = []
    /// A password that is used once and never kept.
    var passwordOnce: Secret?
  }

  let store: any RecordStore
  let tokenEndpoint: TokenEndpoint
  let resolver: ServerResolver
  let configuration: any ConfigurationSource
  let time: any TimeKeeper
  let random: any RandomSource
  let ready: ReadyTokens
  let logger: Logger

  var accounts: [String: Account] = [:]
  var problems: [ConfigurationProblem] = []
  private var opening: Task<AgentFailure?, Never>?
  private var isOpen = false
  private var answers: [UInt64: CheckedContinuation<Result<TokenRecord, AgentFailure>, Never>] = [:]
  private var changeAnswers: [UInt64: CheckedContinuation<AgentFailure?, Never>] = [:]
  private var lastID: UInt64 = 0
  private var isDraining = false
  private var drained: CheckedContinuation<Void, Never>?

  package init(
    store: any RecordStore, transport: any HTTPTransport, configuration: any ConfigurationSource, time: any TimeKeeper,
    random: any RandomSource, ready: ReadyTokens, logger: Logger
  ) {
    self.store = store
    tokenEndpoint = TokenEndpoint(transport: transport)
    resolver = ServerResolver(transport: transport)
    self.configuration = configuration
    self.time = time
    self.random = random
    self.ready = ready
    self.logger = logger
  }

  // MARK: Opening

  /// Reads configuration and vault once; a failure is answered and tried again by the next request.
  package func open() async throws(AgentFailure) {
    if isOpen { return }
    let task = opening ?? Task { await self.load() }
    opening = task
    let failure = await task.value
    if let failure {
      opening = nil
      throw failure
    }
    isOpen = true
  }

  private func load() async -> AgentFailure? {
    do {
      let records = try await store.loadAll()
      for stored in records { adopt(stored) }
      apply(configuration.load())
      return nil
    } catch {
      return AgentFailure(error)
    }
  }

  private func adopt(_ stored: VaultRecord) {
    do {
      let record = try stored.payload.withBytes { bytes in
        try JSONDecoder().decode(AccountRecord.self, from: Data(bytes))
      }
      guard record.format <= AccountRecord.format else { throw RecordFormat.newer }
      accounts[record.name] = Account(
        machine: AccountStateMachine(record: record, definition: nil), id: stored.id, version: stored.version)
    } catch {
      // Sealed by us and still not readable: a later version wrote it. It is left alone.
      logger.error("a record of the vault is of a later version", metadata: ["record": "\(stored.id)"])
    }
  }

  private enum RecordFormat: Error { case newer }

  /// Takes over what the files say; a file with problems keeps its last good definition.
  func apply(_ read: Configuration) {
    problems = read.problems
    let broken = Set(read.problems.map(\.file))
    let defined = Dictionary(read.definitions.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    for (name, definition) in defined where accounts[name]?.machine.definition != definition {
      if accounts[name] == nil {
        accounts[name] = Account(
          machine: AccountStateMachine(record: nil, definition: nil), id: RecordID(random: random), version: 0)
      }
      accounts[name]?.machine.define(definition)
      publish(name)
      reschedule(name)
    }
    for (name, account) in accounts where defined[name] == nil {
      if let definition = account.machine.definition, broken.contains(definition.file) { continue }
      guard account.machine.definition != nil else { continue }
      accounts[name]?.machine.define(nil)
      publish(name)
      reschedule(name)
    }
  }

  // MARK: Driving a state machine

  func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// Performs what a state machine wants done, in order, and sets its next wake.
  func perform(_ actions: [AccountStateMachine.Action], _ name: String) {
    for action in actions {
      switch action {
      case .save(let record): save(record, name)
      case .erase: erase(name)
      case .send(let call): send(call, name)
      case .revoke(let revocation, let secret): revoke(revocation, secret, name)
      case .publish: publish(name)
      case .deliver(let id, let token): answers.removeValue(forKey: id)?.resume(returning: .success(token))
      case .refuse(let id, let failure): answers.removeValue(forKey: id)?.resume(returning: .failure(failure))
      case .changed(let id, let failure): changeAnswers.removeValue(forKey: id)?.resume(returning: failure)
      }
    }
    reschedule(name)
    if isDraining { drainIfIdle() }
  }

  // MARK: Draining

  /// Starts nothing more by plan, and returns when what is under way has ended and is durable, or after `seconds`.
  package func drain(seconds: Double) async {
    isDraining = true
    for name in accounts.keys {
      accounts[name]?.timer?.cancel()
      accounts[name]?.timer = nil
    }
    let limit = Task {
      try? await self.time.sleep(seconds: seconds)
      self.endDrain()
    }
    await withCheckedContinuation { continuation in
      drained = continuation
      drainIfIdle()
    }
    limit.cancel()
  }

  private func drainIfIdle() {
    if accounts.values.allSatisfy(\.machine.isIdle) { endDrain() }
  }

  private func endDrain() {
    drained?.resume()
    drained = nil
  }

  /// Feeds one event to the state machine of `name`.
  func event(_ name: String, _ body: (inout AccountStateMachine) -> [AccountStateMachine.Action]) {
    guard accounts[name] != nil else { return }
    var actions: [AccountStateMachine.Action] = []
    // In place: a copy would cost every token in it a reference.
    if var account = accounts[name] {
      actions = body(&account.machine)
      accounts[name] = account
    }
    perform(actions, name)
  }

  private func save(_ record: AccountRecord, _ name: String) {
    guard var account = accounts[name] else { return }
    account.version += 1
    accounts[name] = account
    let payload: Secret
    do { payload = Secret(try JSONEncoder().encode(record)) } catch {
      let failure = AgentFailure(.internal, "\(name): its record cannot be written down")
      return event(name) { $0.saveFailed(failure, at: time.now(), random: random.fraction()) }
    }
    let stored = VaultRecord(id: account.id, version: account.version, payload: payload)
    Task { self.saveEnded(name, await self.put(stored)) }
  }

  private nonisolated func put(_ record: VaultRecord) async -> AgentFailure? {
    do {
      try await store.put(record)
      return nil
    } catch { return AgentFailure(error) }
  }

  private nonisolated func delete(_ id: RecordID) async -> AgentFailure? {
    do {
      try await store.delete(id)
      return nil
    } catch { return AgentFailure(error) }
  }

  private func erase(_ name: String) {
    guard let id = accounts[name]?.id else { return }
    Task { self.saveEnded(name, await self.delete(id)) }
  }

  private func saveEnded(_ name: String, _ failure: AgentFailure?) {
    let now = time.now()
    if let failure {
      logger.error("a record could not be saved", metadata: ["account": "\(name)", "reason": "\(failure.message)"])
      event(name) { $0.saveFailed(failure, at: now, random: random.fraction()) }
    } else {
      event(name) { $0.saved(at: now, random: random.fraction()) }
    }
  }

  private func send(_ call: TokenCall, _ name: String) {
    logger.info("asking for a token", metadata: ["account": "\(name)", "server": "\(call.binding.issuerHost)"])
    // Not a child of anything: a caller that leaves, or a login that ends, never takes an answer with it.
    Task { self.callEnded(name, await self.tokenEndpoint.perform(call, now: call.started)) }
  }

  private func callEnded(_ name: String, _ end: TokenCallEnd) {
    logger.info("\(end.logLine)", metadata: ["account": "\(name)"])
    event(name) { $0.callEnded(end, at: time.now(), random: random.fraction()) }
  }

  private func revoke(_ revocation: RevocationRecord, _ secret: Secret?, _ name: String) {
    Task {
      let end = await self.tokenEndpoint.revoke(revocation, clientSecret: secret, now: self.time.now())
      self.revocationEnded(name, revocation, end)
    }
  }

  private func revocationEnded(_ name: String, _ revocation: RevocationRecord, _ end: RevocationEnd) {
    let waiting = accounts[name]?.revocationWaiters ?? []
    accounts[name]?.revocationWaiters = []
    event(name) { $0.revocationEnded(revocation, end, id: nextID(), at: time.now(), random: random.fraction()) }
    for waiter in waiting { waiter.resume(returning: end) }
  }

  func publish(_ name: String) {
    guard let account = accounts[name], let definition = account.machine.definition,
      let grant = account.machine.record?.grant,
      let token = account.machine.ready.first(where: { $0.key == .standard })
    else { return ready.set(nil, for: name) }
    let now = time.now()
    let remaining = token.remaining(at: now)
    ready.set(
      ReadyToken(
        account: name, accountID: account.id.description, accessToken: token.accessToken.secret,
        tokenType: token.tokenType, scope: token.scope, fingerprint: token.fingerprint.description,
        expiresBoot: remaining.map { now.bootSeconds + $0 }, expiresAt: remaining.map { Int(now.wallSeconds + $0) },
        defaultMinimumValidity: RefreshPlan.defaultMinimumValidity(lifeSeconds: token.lifeSeconds),
        origins: account.machine.isDefinitionChanged ? grant.binding.hosts : definition.origins,
        gitUsername: definition.gitUsername, revision: account.machine.revision),
      for: name)
  }

  /// Sets the one timer of an account to its next wake.
  func reschedule(_ name: String) {
    guard let account = accounts[name] else { return }
    account.timer?.cancel()
    guard !isDraining else { return }
    let now = time.now()
    guard let wake = account.machine.wake(at: now) else {
      accounts[name]?.timer = nil
      return
    }
    let wait = max(0, wake - now.bootSeconds)
    accounts[name]?.timer = Task {
      do { try await self.time.sleep(seconds: wait) } catch { return }
      self.wake(name)
    }
  }

  private func wake(_ name: String) {
    event(name) { $0.woke(at: time.now(), asked: ready.asked(name), random: random.fraction()) }
  }

  // MARK: Waiting

  /// Asks the state machine of `name`, and waits for its answer until `timeoutSeconds` have passed.
  func wait(
    _ name: String, _ waiter: AccountStateMachine.Waiter, timeoutSeconds: Double
  ) async -> Result<TokenRecord, AgentFailure> {
    let id = waiter.id
    return await withCheckedContinuation { continuation in
      answers[id] = continuation
      event(name) { $0.ask(waiter, at: time.now()) }
      guard answers[id] != nil else { return }
      Task {
        try? await self.time.sleep(seconds: timeoutSeconds)
        self.event(name) { $0.timedOut(id) }
      }
    }
  }

  /// Makes a change durable.
  func change(_ name: String, _ change: AccountChange) async throws(AgentFailure) {
    let id = nextID()
    let failure = await withCheckedContinuation { continuation in
      changeAnswers[id] = continuation
      event(name) { $0.change(change, id: id, at: time.now()) }
    }
    if let failure { throw failure }
  }

  /// Waits until the server has answered the revocation under way, `seconds` at most.
  func revocation(_ name: String, seconds: Double) async -> RevocationEnd? {
    guard accounts[name]?.machine.record?.revocations.isEmpty == false else { return nil }
    return await withCheckedContinuation { continuation in
      accounts[name]?.revocationWaiters.append(continuation)
      Task {
        try? await self.time.sleep(seconds: seconds)
        self.giveUpRevocationWait(name)
      }
    }
  }

  private func giveUpRevocationWait(_ name: String) {
    let waiting = accounts[name]?.revocationWaiters ?? []
    accounts[name]?.revocationWaiters = []
    for waiter in waiting { waiter.resume(returning: nil) }
  }
}

extension RandomSource {
  /// A random number in 0..<1, for jitter.
  func fraction() -> Double {
    let bytes = bytes(4)
    return bytes.reduce(0.0) { $0 * 256 + Double($1) } / 4_294_967_296
  }
}

extension TokenCallEnd {
  /// One line for the log, without secrets.
  var logLine: String {
    switch self {
    case .notSent(let reason): "nothing was sent: \(reason)"
    case .sentNoAnswer(let reason): "sent, and no whole answer came: \(reason)"
    case .answered(let answer):
      switch answer.verdict {
      case .granted: "a token was granted"
      case .grantRefused(let error, _), .clientRefused(let error, _), .refused(let error, _): "refused: \(error)"
      case .refusedWithoutReason(let reason), .undecided(let reason, _): reason
      }
    }
  }
}
