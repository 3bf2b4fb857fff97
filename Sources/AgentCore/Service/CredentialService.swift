package import Logging
package import OAuthProtocol
package import Sealing
package import TokenVault

/// All accounts: drives one state machine each, performs its actions, and is the only writer of the ready tokens.
///
/// Nothing read before an `await` is used after it without asking the state machine again.
///
/// Who waits for what, in this order. A caller waits until the vault is open (`availability`), and where the wall clock has
/// moved until its server has told the time (`clocks`). Then it waits for its account (`tokenWaiters`), which waits for
/// another one's token where its grant is made of that (`Borrowing`; that one borrows nothing), and whose machine waits
/// for one thing at a time: first for a place among the requests (`places`), then until its intent is in the vault
/// (`writes`), then for the server (`underWay`), then until the answer is in the vault; only then the caller is answered.
/// While a server cannot be reached, its accounts wait for the one of them that tries (`servers`). A login, a logout or a
/// secret waits until the machine has ended what it is at, and is answered when it is durable; a logout waits for what the
/// server says to it as well; a lock and a stop wait until all of that has ended (`waiters`), and an unlock waits for the
/// lock (`availability`). Nothing waits the other way round: no machine waits for a caller, no answer for a lock. Each wait
/// has an end of its own.
package actor CredentialService {
  let store: any RecordStore
  let transport: any HTTPTransport
  let configuration: any ConfigurationSource
  let time: any TimeKeeper
  let random: any RandomSource
  let logger: Logger
  let keyMaker = KeyMaker()
  let proofSigner = ProofSigner()
  let nonces = ServerNonces()

  // Read by others without asking this actor.
  let ready: ReadyTokens
  let events = EventFeed()
  let pendingLogins = PendingLogins()

  // What is known.
  var accounts: [String: Account] = [:]
  var files = KnownFiles()
  var servers = KnownServers()
  /// Whose logins are made by that of a lender, by the lender's name. Some are left in it that are so no more.
  var borrowers: [String: Set<String>] = [:]
  /// Whose logins live, by the client that they are by.
  var livingLogins: [String: Set<String>] = [:]
  /// What lists are made from.
  var index = AccountIndex()
  var told = ToldState()

  // What is under way.
  var availability = Availability()
  var plan = WakePlan()
  var places = RequestPlaces()
  var underWay = RequestsUnderWay()
  var writes = VaultWrites()
  var clocks = ClockQuestions<ServerRoute>()
  /// See ``giving(_:of:to:_:)``.
  var tokensBeingGiven: [(account: String, token: Secret, binding: DefinitionBinding)] = []

  // Who waits: each stands in one table, and is answered by who takes it out.
  var tokenWaiters = TokenWaiters()
  var waiters = ServiceWaiters()

  var numbers = Serials()

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

  // What nearly everything here asks for.
  var isOpen: Bool { availability.isOpen }
  var isLocked: Bool { availability.isLocked }
  /// Nothing is sent any more: it is locked, or stops.
  var isClosed: Bool { availability.isClosed }
  package var problems: FileProblems { files.problems }

  func nextID() -> UInt64 { numbers.nextID() }
}
