/// Who may start a helper now, as a value: at most `limit` at once, first come first served, but no origin takes the
/// places of all others.
///
/// An origin that already holds h places gets another only while more than h are free: one dead server holds at most
/// half of them, however many of its accounts want to refresh. A request that has waited for its server for a while gives
/// its place to others, so that many dead servers do not hold all of them either.
struct FetchSlots {
  typealias Ticket = UInt64

  let limit: Int
  /// Requests that may wait without a place.
  let slowLimit: Int
  private(set) var slow = 0
  private(set) var running: [String: Int] = [:]
  private(set) var waiting: [(ticket: Ticket, origin: String)] = []
  private var lastTicket: Ticket = 0

  init(limit: Int) {
    self.limit = max(limit, 1)
    slowLimit = 3 * self.limit
  }

  var free: Int { limit - (running.values.reduce(0, +) - slow) }

  /// Queues a request for `origin` and returns its ticket; ``admitted()`` says when it may start.
  mutating func enqueue(_ origin: String) -> Ticket {
    lastTicket += 1
    waiting.append((lastTicket, origin))
    return lastTicket
  }

  /// Takes the tickets that may start now out of the queue, oldest first.
  mutating func admitted() -> [Ticket] {
    var tickets: [Ticket] = []
    var index = 0
    var free = free
    while index < waiting.count, free > 0 {
      let (ticket, origin) = waiting[index]
      let held = running[origin, default: 0]
      guard free > held else {
        index += 1
        continue
      }
      waiting.remove(at: index)
      running[origin] = held + 1
      free -= 1
      tickets.append(ticket)
    }
    return tickets
  }

  /// A request that has not ended yet gives its place to others; false when too many did.
  mutating func giveWay() -> Bool {
    guard slow < slowLimit else { return false }
    slow += 1
    return true
  }

  /// A request has ended. `gaveWay`: it had no place any more.
  mutating func release(_ origin: String, gaveWay: Bool = false) {
    if gaveWay { slow -= 1 }
    let held = running[origin, default: 0] - 1
    running[origin] = held > 0 ? held : nil
  }

  /// Leaves the queue; false when the ticket was admitted already.
  mutating func withdraw(_ ticket: Ticket) -> Bool {
    guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return false }
    waiting.remove(at: index)
    return true
  }

  /// Scheme, host and port of an absolute URL, for grouping only.
  static func origin(of url: String) -> String {
    var slashes = 0
    let end = url.utf8.firstIndex { byte in
      if byte == UInt8(ascii: "/") { slashes += 1 }
      return slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
    return url[..<(end ?? url.endIndex)].lowercased()
  }
}
