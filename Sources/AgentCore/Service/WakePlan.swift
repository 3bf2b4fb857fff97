/// When accounts and servers are looked at by plan, and who is woken in which turn. Each has its moment, and one sleep
/// serves them all: a sleeping task each would take more memory than the rest of an account.
struct WakePlan {
  /// What is to be done at a moment.
  enum Alarm: Hashable {
    case account(String)
    /// A server that could not be reached may be tried.
    case server(ServerRoute)
    /// A request has waited for its server for a while.
    case patience(RequestQueue<ServerRoute>.Ticket)
  }

  /// Accounts that are woken in one turn of the actor, so that callers are served in between: some milliseconds.
  static let wakesInTurn = 64

  private var alarms = Alarms<Alarm>()
  /// Until the first moment of all.
  var sleep = SharedSleep()
  /// When the sleep under way ends, in boot seconds; nil: nobody sleeps.
  private var sleepsUntil: Double?
  private var queue: [String] = []
  /// Turns follow each other until everybody in the queue was woken.
  private(set) var isWaking = false

  subscript(alarm: Alarm) -> Double? { alarms[alarm] }

  /// Sets the moment of `alarm` in boot seconds; nil: it has none. Returns whether another sleep has to begin, until
  /// ``beginSleep()``.
  mutating func set(_ alarm: Alarm, at moment: Double?) -> Bool {
    let before = alarms[alarm]
    alarms[alarm] = moment
    if let moment, moment < sleepsUntil ?? .infinity { return true }
    return before != nil && before == sleepsUntil && before != moment
  }

  /// Until when to sleep from now on, in boot seconds; nil: nobody has anything to do by plan.
  mutating func beginSleep() -> Double? {
    sleepsUntil = alarms.first()
    return sleepsUntil
  }

  /// The sleep is over: takes out what is due at `now`. No alarm that is set from here on begins a sleep until
  /// ``beginSleep()``.
  mutating func takeDue(at now: Double) -> [Alarm] {
    sleep.cancel()
    sleepsUntil = -.infinity
    return alarms.takeDue(at: now)
  }

  /// Queues accounts to be woken. Returns whether the turns have to begin.
  mutating func queue(_ names: some Sequence<String>) -> Bool {
    queue.append(contentsOf: names)
    guard !isWaking, !queue.isEmpty else { return false }
    isWaking = true
    return true
  }

  /// Wakes those of one turn.
  mutating func takeTurn() -> [String] {
    let turn = Array(queue.prefix(Self.wakesInTurn))
    queue.removeFirst(turn.count)
    return turn
  }

  /// They are woken: the turns end when nobody else has come.
  mutating func endTurn() { if queue.isEmpty { isWaking = false } }

  /// Nothing is planned any more, and nobody is woken. Nobody sleeps, either.
  mutating func clear() {
    alarms = Alarms()
    sleep.cancel()
    sleepsUntil = nil
    queue = []
  }
}
