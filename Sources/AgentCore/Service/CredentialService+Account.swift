import OAuthProtocol
import TokenVault

extension CredentialService {
  /// One account, defined or still kept. A class: changing one while going through all copies none.
  final class Account {
    /// Changed by ``handle(_:at:)`` alone.
    private(set) var machine: AccountStateMachine
    /// Nil: it has changed since, or nobody has asked.
    private var madePolicy: HostPolicy?
    let name: String
    /// Of its record in the vault.
    var id: RecordID
    /// Version of the last put.
    var version: UInt64
    /// Version of the last put of what an older vault had, when a newer one was found in its place: it is not repeated.
    var overtaken: UInt64 = 0
    /// The commit that has written what is kept as it was last changed, or a later one; what is not written yet comes after all.
    private(set) var newsCommit = UInt64.max
    private var news: RecordAge?
    /// The commit that has written what is kept, or that it was read from.
    private(set) var lastCommit: UInt64 = 0
    /// Where its tokens come from, with what that was found by; nil: nothing is kept.
    var server: Server?
    var tokenEndpoint: String?
    var route: HTTPRoute?
    /// Where its next revocations go, and the server of the one under way.
    var revocationServers: [RevocationQueue.Lane: Server] = [:]
    var revokingServer: Server?
    /// Some of them wait for the end of another account's login, or of one that is under way.
    var isSparingLogins = false
    /// The one under way has its place, and is sent.
    var isRevocationSent = false
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
    var secretsForLogins: [SecretsForLogin] = []
    /// Nil: its grant is made of no other account's token.
    var borrowing: Borrowing?
    /// The client of its login, where the server may still take that for one.
    var livingClient: String?
    /// A client that was registered when there was no vault yet to keep it in.
    var registration: ClientRegistrationRecord?

    init(_ name: String, machine: AccountStateMachine, id: RecordID, version: UInt64) {
      self.name = name
      self.machine = machine
      self.id = id
      self.version = version
    }

    /// Boot time at which its login will have ended by itself, and what waits for that may be due.
    func loginEnd(at now: Moment) -> Double? {
      guard livingClient != nil else { return nil }
      return machine.record?.loginEnd(at: now).map { $0 + SharedSleep.toleranceSeconds }
    }

    /// Hands one event to the state machine, in place.
    @discardableResult
    func handle(_ event: AccountStateMachine.Event, at now: Moment) -> Actions {
      madePolicy = nil
      return machine.handle(event, at: now)
    }

    /// Where its tokens may go; nil without a definition. It is looked at for every account that a URL may mean.
    var hostPolicy: HostPolicy? {
      guard madePolicy == nil, let definition = machine.definition else { return madePolicy }
      madePolicy = HostPolicy(definition, boundTo: machine.record?.grant?.binding)
      return madePolicy
    }

    /// What is kept was written by `commit`.
    func noteNews(at commit: UInt64) {
      lastCommit = commit
      guard newsCommit == .max || machine.record?.age != news else { return }
      (newsCommit, news) = (commit, machine.record?.age)
    }
  }
}
