import HTTPTerms
import OAuthProtocol

/// Every request to a server has a place here before anything of it is written or sent, and keeps it until it has ended:
/// token calls of accounts, and what people and revocations send.
///
/// What can be left in the queue when the agent locks or stops is a wish, so nothing has to be taken back.
extension CredentialService {
  typealias Ticket = RequestPlaces.Ticket

  /// How long a request keeps others waiting for its place, in seconds: an answer usually takes less.
  private static let promptSeconds = 1.0
  /// Milliseconds for the question whether a server answers again: one that is well answers its metadata in much less.
  private static let checkMilliseconds = 10_000

  // MARK: Accounts

  /// Brings what `account` wants to send and its place in the queue together.
  func applyWish(_ account: Account) {
    var wish =
      account.isChecking || isClosed || awaitsClock(account.name) ? nil : account.machine.wish(at: now(account))
    if wish == nil, !account.isChecking { account.borrowing?.grant = nil }
    if let asked = wish, !hasBorrowed(account, asked) { wish = nil }
    if let ticket = account.ticket, wish == nil || account.ticketRoute != account.server?.route {
      account.ticket = nil
      places.withdraw(ticket)
    }
    guard let wish, let server = account.server else { return }
    if let ticket = account.ticket { return places.change(ticket, to: wish.priority) }
    let ticket = places.enqueue(server.route, wish.priority)
    account.ticket = ticket
    account.ticketRoute = server.route
    account.applied = time.now().bootSeconds
    places.wait(ticket, .account(account.name))
    admitSoon()
  }

  private func admitSoon() {
    if places.beginTurn() { Task { self.admit() } }
  }

  private func admit() {
    let given = places.takeTurn()
    let now = time.now().bootSeconds
    for (ticket, waiter) in given {
      setAlarm(.patience(ticket), at: now + Self.promptSeconds)
      switch waiter {
      case .request(let continuation)?: continuation.resume(returning: true)
      case .account(let name)?: placed(name, ticket)
      case nil: release(ticket)
      }
    }
    if given.count == RequestPlaces.givenInTurn { admitSoon() }
  }

  /// The account has left the queue: its server's circuit is asked again before anything is written.
  private func placed(_ name: String, _ ticket: Ticket) {
    guard let account = accounts[name], account.ticket == ticket else { return release(ticket) }
    account.ticket = nil
    // The clock may have moved while it waited.
    askServersForTheTime()
    guard let server = account.server, !isClosed, !awaitsClock(name) else { return release(ticket) }
    noteLag(account, server)
    guard server.circuit.isOpen, server.circuit.probe == nil, let binding = account.machine.record?.grant?.binding
    else { return begin(account, ticket) }
    // The server did not answer before: no secret is sent until it has answered a request without one.
    server.circuit.began(name)
    account.isChecking = true
    Task { self.checked(account, ticket, await self.check(binding), ServerRoute(binding)) }
  }

  private func begin(_ account: Account, _ ticket: Ticket) {
    guard stillHasBorrowed(account) else {
      release(ticket)
      noteProbes(account)
      return applyWish(account)
    }
    let before = account.machine.lastCall
    event(account, .placed) {
      if account.machine.isCalling, account.machine.lastCall > before {
        account.places[account.machine.lastCall] = ticket
      } else {
        self.release(ticket)
      }
    }
  }

  /// Gives back the places of calls that have ended, or were not sent after all.
  func sweepPlaces(_ account: Account) {
    guard !account.places.isEmpty else { return }
    let (machine, last) = (account.machine, account.machine.lastCall)
    for (number, ticket) in account.places where !machine.awaits(number) && (number != last || !machine.isCalling) {
      account.places[number] = nil
      if machine.isCalling, account.places[last] == nil {
        // Another call of it follows at once.
        account.places[last] = ticket
      } else {
        release(ticket)
      }
    }
  }

  private func release(_ ticket: Ticket) {
    places.release(ticket)
    setAlarm(.patience(ticket), at: nil)
    if places.isWaitedFor { admitSoon() }
  }

  /// A request still waits for its server: others may go on.
  func giveWay(_ ticket: Ticket) {
    if places.giveWay(ticket), places.isWaitedFor { admitSoon() }
  }

  private func noteLag(_ account: Account, _ server: Server) {
    guard let life = account.machine.record?.token(.standard)?.lifeSeconds, let applied = account.applied else {
      return
    }
    server.noteWait(time.now().bootSeconds - applied, lifeSeconds: life)
  }

  // MARK: A server that did not answer

  /// Asks for what is public: any answer will do. Nil: it answered; else why not.
  private nonisolated func check(_ binding: DefinitionBinding) async -> (failure: String?, dateSeconds: Int64?) {
    var route = binding.route
    route.timeoutMilliseconds = Self.checkMilliseconds
    var request = HTTPRequest(.get, Self.publicURL(binding))
    request.isPublicOnly = binding.publicOnly?.contains(binding.tokenEndpoint) == true
    switch await checkedTransport.perform(request, route: route) {
    case .answered(let answer): return (nil, answer.dateSeconds)
    case .notSent(let failure), .sentNoAnswer(let failure): return ("\(binding.issuerHost): \(failure.message)", nil)
    }
  }

  /// The metadata, where the server that gives the tokens has it; else that server's front page.
  static func publicURL(_ binding: DefinitionBinding) -> String {
    let origin = (try? WebURL(binding.tokenEndpoint))?.origin
    if let issuer = try? Issuer(binding.issuer), let origin, (try? WebURL(binding.issuer))?.origin == origin {
      return issuer.metadataURL(.openID)
    }
    return (origin?.description ?? binding.tokenEndpoint) + "/"
  }

  private func checked(
    _ account: Account, _ ticket: Ticket, _ result: (failure: String?, dateSeconds: Int64?), _ route: ServerRoute
  ) {
    account.isChecking = false
    if let failure = result.failure {
      release(ticket)
      note(.failure(failure), of: route, for: account.name)
      // Whoever waits for it is told, too.
      if accounts[account.name] === account { wake(account.name) }
    } else if accounts[account.name] === account {
      // The clock may have moved while the server was asked.
      askServersForTheTime()
      guard !awaitsClock(account.name) else {
        release(ticket)
        servers[route]?.circuit.gaveUp(account.name)
        return
      }
      begin(account, ticket)
    } else {
      release(ticket)
      servers[route]?.circuit.gaveUp(account.name)
    }
  }

  // MARK: Other requests

  /// A place for a request to `route`; nil when the agent locks or stops, or the task is cancelled, before there is one.
  /// Give it back with ``giveBack(_:)``.
  /// `queued` is told the ticket while it waits.
  func place(
    _ route: ServerRoute, _ priority: RequestPriority, queued: (Ticket) -> Void = { _ in }
  ) async -> Ticket? {
    guard !isClosed, !Task.isCancelled else { return nil }
    let ticket = places.enqueue(route, priority)
    queued(ticket)
    let isAdmitted = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        places.wait(ticket, .request(continuation))
        admitSoon()
      }
    } onCancel: {
      Task { await self.leave(ticket) }
    }
    return isAdmitted ? ticket : nil
  }

  func giveBack(_ ticket: Ticket) { release(ticket) }

  private func leave(_ ticket: Ticket) {
    if case .request(let continuation)? = places.withdraw(ticket) { continuation.resume(returning: false) }
  }

  /// No request in the queue is sent any more. Those that have their place go on.
  func emptyQueue() {
    for waiter in places.withdrawAll() {
      switch waiter {
      case .account(let name): accounts[name]?.ticket = nil
      case .request(let continuation): continuation.resume(returning: false)
      }
    }
  }
}
