import HeapModule

/// Who may send a request now, as a value: at most `limit` at once, people first, then waiting callers by deadline, then
/// plans by the time they were due; and no server takes the places of all others.
///
/// A server that already holds h places gets another only while more than h are free, so a dead one holds at most half of
/// them, however many of its accounts want to refresh. A request that has waited for its server for a while gives its
/// place to others, so that many dead servers do not hold all of them either.
///
/// Whoever waits here has written nothing and sent nothing, so leaving costs nothing.
package struct RequestQueue<Server: Hashable & Sendable>: Sendable {
  package typealias Ticket = UInt64

  private struct Entry: Comparable {
    let priority: RequestPriority
    let ticket: Ticket

    static func < (left: Entry, right: Entry) -> Bool {
      left.priority == right.priority ? left.ticket < right.ticket : left.priority < right.priority
    }
  }

  /// The first in line at one server.
  private struct Head: Comparable {
    let entry: Entry
    let server: Server

    static func == (left: Head, right: Head) -> Bool { left.entry == right.entry }
    static func < (left: Head, right: Head) -> Bool { left.entry < right.entry }
  }

  private struct Lane {
    /// May hold tickets that left or moved; they are skipped.
    var line = Heap<Entry>()
    /// What ``heads`` has of this server, and it has every server where somebody waits.
    var head: Entry?
    var waiting = 0
    var running = 0
  }

  private struct Waiting {
    let server: Server
    var priority: RequestPriority
  }

  /// Requests at once that count: those that gave way do not.
  package let limit: Int
  /// Requests that may run without a place.
  package let slowLimit: Int
  private(set) var slow = 0
  private var lanes: [Server: Lane] = [:]
  private var waiting: [Ticket: Waiting] = [:]
  private var running: [Ticket: (server: Server, gaveWay: Bool)] = [:]
  /// The first of each server where somebody waits, beside some that no longer are.
  private var heads = Heap<Head>()
  private var lastTicket: Ticket = 0

  package init(limit: Int = 16) {
    self.limit = max(limit, 1)
    slowLimit = 3 * self.limit
  }

  var free: Int { limit - (running.count - slow) }

  package var waitingCount: Int { waiting.count }
  package var runningCount: Int { running.count }

  /// Queues a request for `server`; ``admitted(most:)`` says when it may start.
  package mutating func enqueue(_ server: Server, _ priority: RequestPriority) -> Ticket {
    lastTicket += 1
    waiting[lastTicket] = Waiting(server: server, priority: priority)
    lanes[server, default: Lane()].waiting += 1
    lanes[server]?.line.insert(Entry(priority: priority, ticket: lastTicket))
    tidy(server)
    return lastTicket
  }

  /// Where a waiting request goes; nil: it does not wait.
  func server(of ticket: Ticket) -> Server? { waiting[ticket]?.server }

  /// Moves a waiting request to its new place in the order. A plan that is put off keeps its place: whoever waits here is
  /// due.
  package mutating func change(_ ticket: Ticket, to priority: RequestPriority) {
    guard let found = waiting[ticket], found.priority != priority else { return }
    if case (.plan(let before), .plan(let after)) = (found.priority, priority), before < after { return }
    waiting[ticket]?.priority = priority
    lanes[found.server]?.line.insert(Entry(priority: priority, ticket: ticket))
    tidy(found.server)
  }

  /// Moves a waiting request forward, never back.
  package mutating func hurry(_ ticket: Ticket, to priority: RequestPriority) {
    if let found = waiting[ticket], priority < found.priority { change(ticket, to: priority) }
  }

  /// Leaves the queue; false when the ticket is not waiting.
  @discardableResult
  package mutating func withdraw(_ ticket: Ticket) -> Bool {
    guard let found = waiting.removeValue(forKey: ticket) else { return false }
    lanes[found.server]?.waiting -= 1
    tidy(found.server)
    return true
  }

  /// Takes the tickets that may start now out of the queue, `most` at most. Each holds its place until ``release(_:)``.
  package mutating func admitted(most: Int = .max) -> [Ticket] {
    var tickets: [Ticket] = []
    var held: [Head] = []
    while free > 0, tickets.count < most, let head = heads.popMin() {
      guard let first = first(at: head.server), first == head.entry, let lane = lanes[head.server] else { continue }
      lanes[head.server]?.head = nil
      guard free > lane.running else {
        held.append(head)
        continue
      }
      lanes[head.server]?.line.removeMin()
      lanes[head.server]?.waiting -= 1
      lanes[head.server]?.running += 1
      waiting[first.ticket] = nil
      running[first.ticket] = (head.server, false)
      tickets.append(first.ticket)
      point(at: head.server)
    }
    for head in held { point(at: head.server) }
    return tickets
  }

  /// A request that has not ended yet gives its place to others; false when too many did.
  @discardableResult
  package mutating func giveWay(_ ticket: Ticket) -> Bool {
    guard slow < slowLimit, let found = running[ticket], !found.gaveWay else { return false }
    running[ticket]?.gaveWay = true
    slow += 1
    return true
  }

  /// A request has ended, or is not sent after all.
  package mutating func release(_ ticket: Ticket) {
    guard let found = running.removeValue(forKey: ticket) else { return }
    if found.gaveWay { slow -= 1 }
    lanes[found.server]?.running -= 1
    tidy(found.server)
  }

  /// The first in line at `server`; those before it that left are dropped.
  private mutating func first(at server: Server) -> Entry? {
    while let entry = lanes[server]?.line.min {
      if waiting[entry.ticket]?.priority == entry.priority { return entry }
      lanes[server]?.line.removeMin()
    }
    return nil
  }

  /// Sees to it that the first in line at `server` stands among the heads, whoever came, moved or left.
  private mutating func point(at server: Server) {
    guard let first = first(at: server), lanes[server]?.head != first else { return }
    lanes[server]?.head = first
    heads.insert(Head(entry: first, server: server))
  }

  /// Brings what is known of `server` in order after a change, and forgets what is left of requests that are gone.
  private mutating func tidy(_ server: Server) {
    guard let lane = lanes[server] else { return }
    if lane.waiting == 0 {
      lanes[server] = lane.running == 0 ? nil : Lane(running: lane.running)
    } else {
      if lane.line.count > 2 * lane.waiting + 64 {
        lanes[server]?.line = Heap(lane.line.unordered.filter { waiting[$0.ticket]?.priority == $0.priority })
      }
      point(at: server)
    }
    guard heads.count > 4 * lanes.count + 64 else { return }
    heads = Heap(lanes.compactMap { server, lane in lane.head.map { Head(entry: $0, server: server) } })
  }
}

/// The order of requests: people, then callers by the boot time at which they stop waiting, then plans by the boot time
/// at which they were due.
package enum RequestPriority: Sendable, Hashable, Comparable {
  case person
  case caller(deadline: Double)
  case plan(due: Double)
}
