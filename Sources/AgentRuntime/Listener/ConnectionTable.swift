import AgentCore
import Glibc

/// All connections of one listener, what they share, and the one timer that ends those whose deadline passed. Used on its
/// loop only.
///
/// One timer for all: most connections live for one request, and a timer each would cost more than the request.
final class ConnectionTable {
  let queue: EventQueue
  /// Turns `queue`.
  let loop: ServingLoop
  let limits: ListenerLimits
  let roundAnswers = AnswerBatch()
  let shares: RequestShares
  let owed: PendingAnswers
  var bytes: BufferBudget
  private(set) var isQuiescing = false
  private(set) var connections: [UInt64: CallerConnection] = [:]
  /// When each is to be looked after: an entry is dead unless its connection says the same.
  private var deadlines = DeadlineHeap<LoopTime, UInt64>()
  private var timer: (deadline: LoopTime, timer: EventQueue.Timer)?
  /// While the common bytes are used up: when it is looked for who has held too much for too long.
  var clearing: EventQueue.Timer?
  private var onEmpty: (() -> Void)?
  private let input: UnsafeMutableRawBufferPointer
  /// What that many connections took is worth giving back when half of them have left.
  static let crowd = 32
  /// Where so few ask in one turn, each is answered at once: it works on while the others are read.
  static let few = 8
  private var mostAtOnce = 0
  private var evictions = EvictionOrder()
  /// How often all connections were looked at, to make room.
  private(set) var looksForRoom = 0
  /// What the responder's clocks said in a turn.
  private var moment: (turn: UInt64, value: Moment)?
  private let crowdLeft: () -> Void

  /// `crowdLeft` is called when many connections were open and half of them are not any more.
  init(
    queue: EventQueue, loop: ServingLoop, limits: ListenerLimits, owed: PendingAnswers = PendingAnswers(),
    crowdLeft: @escaping () -> Void = {}
  ) {
    self.queue = queue
    self.loop = loop
    self.limits = limits
    self.owed = owed
    self.crowdLeft = crowdLeft
    shares = RequestShares(limits)
    bytes = BufferBudget(share: limits.ownBytes, limit: limits.sharedBytes)
    input = .allocate(byteCount: limits.ownBytes, alignment: 64)
  }

  deinit { input.deallocate() }

  var count: Int { connections.count }

  /// Makes room by dropping whom ``EvictionOrder`` names. False when each of them waits for an answer: the newcomer is
  /// turned away.
  func admit(_ connection: CallerConnection) -> Bool {
    guard connections.count < limits.connections || makeRoom() else { return false }
    connections[connection.caller.connection] = connection
    mostAtOnce = max(mostAtOnce, connections.count)
    return true
  }

  /// Drops one connection that is owed nothing, neither an answer nor events; false when there is none.
  func makeRoom() -> Bool {
    if dropNext() { return true }
    looksForRoom += 1
    evictions.choose(from: connections.values.compactMap(\.evictionCandidate), share: connections.count / 2)
    return dropNext()
  }

  /// Drops the first of those that were chosen and are as they were then.
  private func dropNext() -> Bool {
    while let chosen = evictions.next({ connections[$0.number]?.evictionCandidate == $0 }) {
      guard let goer = connections[chosen.number] else { continue }
      // It may have asked meanwhile: that lies in the kernel until its turn comes.
      goer.isReady(.reading)
      guard !goer.isOpen || goer.evictionCandidate == chosen else { continue }
      goer.drop()
      return true
    }
    return false
  }

  func remove(_ connection: CallerConnection) {
    let number = connection.caller.connection
    guard connections[number] === connection else { return }
    connections[number] = nil
    deadlines.compact(living: connections.count, isLiving)
    count(connection, unfinished: 0, untaken: 0)
    tellIfEmpty()
    if mostAtOnce >= Self.crowd, connections.count <= mostAtOnce / 2 {
      mostAtOnce = connections.count
      crowdLeft()
    }
  }

  /// Lends the buffer that all read into, one after the other. `body` returns how many bytes were read: they are wiped.
  func withInput(_ body: (UnsafeMutableRawBufferPointer) -> Int) {
    let count = body(input)
    if let start = input.baseAddress { explicit_bzero(start, count) }
  }

  /// Where few ask, each is answered before the next is read.
  var sendsAtOnce: Bool { queue.readyInTurn <= Self.few }

  /// Keeps a ready answer until the end of this turn, at most. False: the connection keeps it.
  func keepReadyAnswer(
    for connection: CallerConnection, _ capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Bool {
    let isFirst = roundAnswers.isEmpty
    guard roundAnswers.add(for: connection, capacity, write) else { return false }
    if sendsAtOnce {
      roundAnswers.send()
    } else if isFirst {
      queue.atEndOfTurn { [roundAnswers] in roundAnswers.send() }
    }
    return true
  }

  /// The time as `responder` has it, read once a turn.
  func now(of responder: any LineResponder) -> Moment {
    if let moment, moment.turn == queue.turnNumber { return moment.value }
    let now = responder.now()
    moment = (queue.turnNumber, now)
    return now
  }

  // MARK: Deadlines

  /// Makes sure that somebody looks at the connection's deadlines at `deadline`, or before.
  func lookAfter(_ connection: CallerConnection, at deadline: LoopTime) {
    if let earlier = connection.lookedAfter, earlier <= deadline { return }
    connection.lookedAfter = deadline
    deadlines.add(connection.caller.connection, due: deadline)
    wake(at: deadline)
  }

  private func wake(at deadline: LoopTime) {
    if let timer {
      if timer.deadline <= deadline { return }
      queue.cancel(timer.timer)
    }
    timer = (deadline, queue.schedule(at: deadline) { [weak self] in self?.expire() })
  }

  private func isLiving(_ number: UInt64, _ deadline: LoopTime) -> Bool {
    connections[number]?.lookedAfter == deadline
  }

  private func expire() {
    timer = nil
    while let (number, deadline) = deadlines.takeDue(at: queue.now) {
      guard isLiving(number, deadline), let connection = connections[number] else { continue }
      connection.lookedAfter = nil
      connection.expire()
      connection.keepTime()
    }
    deadlines.dropDead { !isLiving($0, $1) }
    if let next = deadlines.soonest { wake(at: next) }
  }

  // MARK: The end

  /// Takes no further request, lets the answers that are owed go out, and closes what owes none. Calls `done` when no
  /// connection is left.
  func quiesce(_ done: @escaping () -> Void) {
    isQuiescing = true
    onEmpty = done
    for connection in Array(connections.values) {
      connection.finish()
      connection.settle()
    }
    tellIfEmpty()
  }

  private func tellIfEmpty() {
    guard connections.isEmpty, let done = onEmpty else { return }
    onEmpty = nil
    done()
  }

  /// Closes every connection at once.
  func dropAll() {
    for connection in Array(connections.values) { connection.drop() }
  }
}
