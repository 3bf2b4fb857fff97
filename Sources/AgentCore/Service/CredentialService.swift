package import AgentWire
package import Logging
package import OAuthProtocol
package import Sealing
package import TokenVault

/// All accounts: drives one state machine each, performs its actions, and is the only writer of the ready tokens.
///
/// Nothing read before an `await` is used after it without asking the state machine again.
///
/// Who waits for what, in this order. A caller waits until the vault is open (`opening`), and where the wall clock has
/// moved until the servers have told the time (`clockWaiters`). Then it waits for its account (`tokenWaiters`), which
/// waits for another one's token where its grant is made of that (`borrowing`; that one borrows nothing), and whose
/// machine waits for one thing at a time: first for a place among the requests (`requests`), then until its intent is in
/// the vault (`writes`), then for the server (`underWay`), then until the answer is in the vault; only then the caller is
/// answered. While a server cannot be reached, its accounts wait for the one of them that tries (`servers`). A login, a
/// logout or a secret waits until the machine has ended what it is at, and is answered when it is durable
/// (`changeWaiters`); a logout waits for what the server says to it as well (`revocationWaiters`). A lock and a stop wait
/// until all of that has ended (`idleWaiters`), and an unlock waits for the lock. Nothing waits the other way round: no
/// machine waits for a caller, no answer for a lock. Each wait has an end of its own.
package actor CredentialService {
  /// One account, defined or still kept. A class: changing one while going through all copies none.
  final class Account {
    /// Changed by ``handle(_:at:)`` alone.
    private(set) var machine: AccountStateMachine
    let name: String
    let id: RecordID
    /// Version of the last put.
    var version: UInt64
    /// Where its tokens come from, with what that was found by; nil: nothing is kept.
    var server: Server?
    var tokenEndpoint: String?
    var route: HTTPRoute?
    /// Where its next revocation goes.
    var revocationServer: Server?
    /// Its place in the queue of requests, where that is, and since which boot second.
    var ticket: Ticket?
    var ticketRoute: ServerRoute?
    var applied: Double?
    /// It asks its server, with nothing secret, whether it answers again.
    var isChecking = false
    /// Late answers of it are taken in with the next save.
    var hasLateAnswers = false
    /// The places of its calls under way, by the number of the call.
    var places: [UInt64: Ticket] = [:]
    /// How the requests of the last revocations ended, by what they were for.
    var revoked: [(revocation: RevocationRecord, end: RevocationEnd)] = []
    /// A password that is used once and never kept.
    var passwordOnce: PasswordForOneLogin?
    /// Nil: its grant is made of no other account's token.
    var borrowing: Borrowing?
    /// A client that was registered when there was no vault yet to keep it in.
    var registration: ClientRegistrationRecord?

    init(_ name: String, machine: AccountStateMachine, id: RecordID, version: UInt64) {
      self.name = name
      self.machine = machine
      self.id = id
      self.version = version
    }

    /// Hands one event to the state machine, in place.
    @discardableResult
    func handle(_ event: AccountStateMachine.Event, at now: Moment) -> Actions { machine.handle(event, at: now) }
  }

  let store: any RecordStore
  let transport: any HTTPTransport
  let configuration: any ConfigurationSource
  let keyMaker = KeyMaker()
  let time: any TimeKeeper
  let random: any RandomSource
  let ready: ReadyTokens
  let nonces = ServerNonces()
  let logger: Logger
  let events = EventFeed()
  let pendingLogins = PendingLogins()

  var accounts: [String: Account] = [:]
  package internal(set) var problems = FileProblems() {
    didSet {
      forgetUnreadLogins()
      if problems != oldValue { events.tell(.problems(problems.all.count)) }
    }
  }
  /// Where their files are looked for; nil: nothing was read.
  private(set) var accountFolders: AccountFolders?
  /// Nil: not looked for since the last change.
  var unread: UnreadLogins?
  /// Where the definitions' servers are; nil: not known since the last change.
  var definedHosts: Set<String>?
  /// The reading of the files that is under way, and the one that follows it.
  var reading: Task<Configuration, Never>?
  var nextReading: Task<Configuration, Never>?
  private(set) var opening: Task<AgentFailure?, Never>?
  private(set) var isOpen = false
  var servers = KnownServers()
  /// Whose logins are made by that of a lender, by the lender's name. Some are left in it that are so no more.
  var borrowers: [String: Set<String>] = [:]
  /// Requests that run, and those that wait for their turn.
  var requests = RequestQueue<ServerRoute>()
  var applicants: [Ticket: Applicant] = [:]
  var isAdmitting = false
  /// Token calls that were sent and have not ended, by their number. They outlive a lock.
  var underWay: [UInt64: UnderWay] = [:]
  /// Where their answers are left when they end after a lock; it holds no key that opens anything.
  var lateAnswerStore: (any LateAnswerStore)?
  /// What came while the vault was being opened.
  var lateTokens: [(id: RecordID, late: LateToken)] = []
  var plan = WakePlan()
  /// Until the first moment of ``plan``.
  var planSleep = SharedSleep()
  /// Of the vault as it was opened: see `RecordStore.rolledBackFrom`.
  var rollback: UInt64?
  /// Counts the machines of this agent's life, so that no call has the number of another.
  private var generation: UInt32 = 0
  /// Under way while it is open what a wall clock that moved means.
  var askingForTheTime: Task<Void, Never>?
  /// From the first step of a lock to an unlock.
  var isLocked = false
  var locking: Task<Result<Bool, AgentFailure>, Never>?
  /// Under way while a vault is made in the place of one that is gone.
  var beginning: Task<Result<String?, AgentFailure>, Never>?
  var writes = VaultWrites()
  /// What lists are made from.
  var index = AccountIndex()
  var lockedList: LockedList?
  /// Accounts that the files define, as far as known while the vault is shut.
  var lockedCount = 0
  private var lastID: UInt64 = 0

  // Each continuation stands in one table, and is resumed by who takes it out.
  var tokenWaiters = Waiters<TokenWaiter>()
  var tokenSleep = SharedSleep()
  var lastReply = MadeReply()
  var changeWaiters = Waiters<CheckedContinuation<AgentFailure?, Never>>()
  /// What ``beginWork()`` has noted and has not ended.
  var workUnderWay = 0
  /// By account.
  var revocationWaiters: [String: Waiters<PatientTask>] = [:]
  var isDraining = false
  var idleWaiters = Waiters<PatientTask>()
  var clockWaiters = Waiters<PatientTask>()

  /// Boot time of the last reading because of an authority.
  var authorityRead = -Double.infinity

  /// Hears how many accounts are served, or that none is.
  var serving: (@Sendable (ServingState) -> Void)?

  // What was told last, while somebody is told.
  var told: [String: Told] = [:]
  var followedVault: (any VaultControl)?
  var toldVault: VaultStatusAnswer?
  var vaultTelling: Task<Void, Never>?

  package init(
    store: any RecordStore, transport: any HTTPTransport, configuration: any ConfigurationSource, time: any TimeKeeper,
    random: any RandomSource, ready: ReadyTokens, logger: Logger
  ) {
    self.store = store
    self.transport = transport
    self.configuration = configuration
    self.time = time
    self.random = random
    self.ready = ready
    self.logger = logger
    ready.trustWall(at: time.now())
  }

  func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }

  // MARK: Opening

  /// Reads configuration and vault once; a failure is answered and tried again by the next request.
  package func open() async throws(AgentFailure) {
    // A lock may come between the end of a load and whoever waited for it.
    while !isOpen || isLocked {
      if isLocked { throw .vaultLocked }
      let task = opening ?? Task { await self.load() }
      opening = task
      if let failure = await task.value { throw failure }
    }
  }

  /// Ends in one step on this actor: nobody sees half of it, and a second load can begin only after a failed one.
  private func load() async -> AgentFailure? {
    defer { opening = nil }
    do {
      let records = try await store.loadAll()
      let rollback = await store.rolledBackFrom
      let lateAnswers = records.isEmpty ? [:] : await lateAnswers()
      let read = await StoredRecords.read(records)
      let configuration = await readFiles()
      if isLocked { return .vaultLocked }
      self.rollback = rollback
      if let rollback {
        logger.warning(
          "the vault is older than this machine remembers: nothing is refreshed until somebody accepts it",
          metadata: ["event": "rollback_held", "expected_commit": "\(rollback)"])
      }
      for id in read.later {
        logger.error("a record of the vault is of a later version", metadata: ["record": "\(id)"])
      }
      for (stored, record) in read.accounts { adopt(stored, record, lateAnswers) }
      lateTokens = []
      apply(configuration)
      // Accounts without a definition, too: a revocation may be left to do.
      for account in accounts.values { reschedule(account) }
      wakeSoon(accounts.keys)
      isOpen = true
      tellServing()
      if events.isFollowed { for name in accounts.keys { told[name] = telling(name) } }
      tellVault()
      return nil
    } catch {
      tellVault()
      return AgentFailure(error)
    }
  }

  /// The next `open` reads everything again.
  func close() {
    isOpen = false
    index = AccountIndex()
  }

  private func adopt(_ stored: VaultRecord, _ record: AccountRecord, _ lateAnswers: [RecordID: [LateToken]]) {
    let account = Account(record.name, machine: newMachine(record), id: stored.id, version: stored.version)
    accounts[record.name] = account
    let late = (lateAnswers[stored.id] ?? []) + lateTokens.filter { $0.id == stored.id }.map(\.late)
    account.handle(.late(late), at: time.now())
    let isNews = account.machine.unsaved != nil
    if !isNews { account.handle(.adopted(callsUnderWay(stored.id, record)), at: time.now()) }
    account.hasLateAnswers = isNews
    if !isNews, lateAnswers[stored.id] != nil { removeLateAnswers(of: account) }
  }

  /// Takes over what the files say; a file with problems keeps its last good definition, and so do all files of a folder
  /// that could not be read.
  func apply(_ read: Configuration) {
    accountFolders = read.folders
    problems = FileProblems(read.problems)
    let defined = Dictionary(read.definitions.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    for (name, definition) in defined where accounts[name]?.machine.definition != definition {
      begin(name)
      define(name, definition)
    }
    for (name, account) in accounts where defined[name] == nil {
      guard let definition = account.machine.definition else { continue }
      if problems.concern(definition.file) { continue }
      define(name, nil)
      if account.machine.isEmpty {
        setAlarm(.account(name), at: nil)
        accounts[name] = nil
        for ticket in account.places.values { giveBack(ticket) }
        ready.remove(name)
      }
    }
    // One whose file cannot be read is listed by its problem alone.
    for (name, account) in accounts where account.machine.definition == nil { index.note(name) }
    for name in Set(accounts.keys).union(told.keys) { tell(name) }
  }

  /// Makes an account that is not known yet.
  @discardableResult
  func begin(_ name: String) -> Account {
    if let account = accounts[name] { return account }
    let account = Account(name, machine: newMachine(nil), id: RecordID(random: random), version: 0)
    accounts[name] = account
    return account
  }

  private func define(_ name: String, _ definition: AccountDefinition?) {
    guard let account = accounts[name] else { return }
    ready.nameHosts(
      of: name, before: account.machine.definition?.origins ?? [], after: definition?.origins ?? [])
    definedHosts = nil
    event(account, .defined(definition))
  }

  private func newMachine(_ record: AccountRecord?) -> AccountStateMachine {
    generation += 1
    return AccountStateMachine(record: record, definition: nil, rollback: rollback, generation: generation)
  }
}
