/// The places of all requests to servers: who waits for one in the queue, and which are given away. See
/// ``RequestQueue`` for who is next.
struct RequestPlaces {
  typealias Ticket = RequestQueue<ServerRoute>.Ticket

  /// Who waits for a place.
  enum Waiter {
    case account(String)
    /// Resumed with whether it got one.
    case request(CheckedContinuation<Bool, Never>)
  }

  /// Places given away in one turn of the actor, so that callers are served in between.
  static let givenInTurn = 32

  private var queue: RequestQueue<ServerRoute>
  private var waiters: [Ticket: Waiter] = [:]
  /// A turn is to come.
  private var isTurnDue = false

  init(_ queue: RequestQueue<ServerRoute> = RequestQueue()) { self.queue = queue }

  var waitingCount: Int { queue.waitingCount }
  var isWaitedFor: Bool { waitingCount > 0 }

  /// A place in the queue for a request to `server`. ``wait(_:_:)`` says whose it is.
  mutating func enqueue(_ server: ServerRoute, _ priority: RequestPriority) -> Ticket {
    queue.enqueue(server, priority)
  }

  mutating func wait(_ ticket: Ticket, _ waiter: Waiter) { waiters[ticket] = waiter }

  mutating func change(_ ticket: Ticket, to priority: RequestPriority) { queue.change(ticket, to: priority) }

  /// The same where it is sooner than its place.
  mutating func hurry(_ ticket: Ticket, to priority: RequestPriority) { queue.hurry(ticket, to: priority) }

  /// Takes a waiter out of the queue; nil: it does not wait any more.
  @discardableResult
  mutating func withdraw(_ ticket: Ticket) -> Waiter? {
    queue.withdraw(ticket)
    return waiters.removeValue(forKey: ticket)
  }

  /// Takes the accounts out of the queue that wait for `server`. People's requests stay: they are sent whatever is known.
  mutating func withdrawAccounts(at server: ServerRoute) -> [String] {
    var names: [String] = []
    for case (let ticket, .account(let name)) in waiters where queue.server(of: ticket) == server {
      withdraw(ticket)
      names.append(name)
    }
    return names
  }

  /// Takes everybody out of the queue.
  mutating func withdrawAll() -> [Waiter] {
    defer { waiters = [:] }
    for ticket in waiters.keys { queue.withdraw(ticket) }
    return Array(waiters.values)
  }

  /// Whether a turn has to begin, until ``takeTurn()``.
  mutating func beginTurn() -> Bool {
    defer { isTurnDue = true }
    return !isTurnDue
  }

  /// The places that are given away now. One without waiter is released.
  mutating func takeTurn() -> [(ticket: Ticket, waiter: Waiter?)] {
    isTurnDue = false
    return queue.admitted(most: Self.givenInTurn).map { ($0, waiters.removeValue(forKey: $0)) }
  }

  mutating func release(_ ticket: Ticket) { queue.release(ticket) }

  /// A request still waits for its server: others may go on. Returns whether there is a place more.
  mutating func giveWay(_ ticket: Ticket) -> Bool { queue.giveWay(ticket) }
}
