import Testing

@testable import AgentCore

@Suite("Who may send a request now")
struct RequestQueueTests {
  private typealias Queue = RequestQueue<String>
  private let plan = RequestPriority.plan(due: 0)

  private func admit(_ queue: inout Queue, _ expected: [UInt64], _ place: SourceLocation = #_sourceLocation) {
    let tickets = queue.admitted()
    #expect(tickets == expected, sourceLocation: place)
  }

  @Test("Different servers take every place, in order of arrival; the rest wait")
  func manyServers() {
    var queue = Queue(limit: 3)
    let tickets = (0..<5).map { queue.enqueue("\($0)", plan) }
    admit(&queue, Array(tickets[..<3]))
    admit(&queue, [])
    queue.release(tickets[1])
    admit(&queue, [tickets[3]])
  }

  @Test("One server never takes more than half, and the next one starts at once")
  func oneServer() {
    var queue = Queue(limit: 8)
    let slow = (0..<100).map { _ in queue.enqueue("slow", plan) }
    admit(&queue, Array(slow[..<4]))
    let other = queue.enqueue("other", plan)
    admit(&queue, [other])
    queue.release(slow[2])
    admit(&queue, [slow[4]])
  }

  @Test("People come first, then callers by deadline, then plans by the time they were due")
  func order() {
    var queue = Queue(limit: 2)
    let running = queue.enqueue("a", plan)
    admit(&queue, [running])
    let late = queue.enqueue("a", .plan(due: 20))
    let early = queue.enqueue("a", .plan(due: 10))
    let patient = queue.enqueue("a", .caller(deadline: 60))
    let hurried = queue.enqueue("a", .caller(deadline: 30))
    let person = queue.enqueue("a", .person)
    var last = running
    for expected in [person, hurried, patient, early, late] {
      queue.release(last)
      admit(&queue, [expected])
      last = expected
    }
  }

  @Test("Who moves back, or leaves, leaves its place to the next one", arguments: [true, false])
  func movesBack(_ stays: Bool) {
    var queue = Queue(limit: 4)
    let first = queue.enqueue("a", .caller(deadline: 1))
    let second = queue.enqueue("a", .caller(deadline: 2))
    if stays { queue.change(first, to: .plan(due: 0)) } else { queue.withdraw(first) }
    admit(&queue, stays ? [second, first] : [second])
  }

  @Test("A plan that is put off while it waits keeps its place")
  func putOff() {
    var queue = Queue(limit: 2)
    let tickets = [queue.enqueue("a", .plan(due: 1)), queue.enqueue("a", .plan(due: 2))]
    queue.change(tickets[0], to: .plan(due: 3))
    admit(&queue, [tickets[0]])
  }

  /// The rule as one would write it without a thought of speed.
  private struct Model {
    var limit: Int
    var waiting: [(ticket: UInt64, server: String, priority: RequestPriority)] = []
    var running: [(ticket: UInt64, server: String)] = []

    mutating func admitted() -> [UInt64] {
      var tickets: [UInt64] = []
      while true {
        waiting.sort { $0.priority == $1.priority ? $0.ticket < $1.ticket : $0.priority < $1.priority }
        let free = limit - running.count
        let place = waiting.firstIndex { one in free > running.count { $0.server == one.server } }
        guard free > 0, let place else { return tickets }
        let one = waiting.remove(at: place)
        running.append((one.ticket, one.server))
        tickets.append(one.ticket)
      }
    }
  }

  @Test("Whatever comes, moves, leaves and ends, in any order, the first that may start does", arguments: 0..<40)
  func anyOrder(_ seed: Int) {
    var dice = Dice(seed: UInt64(seed + 1))
    var queue = Queue(limit: 6)
    var model = Model(limit: 6)
    for step in 0..<400 {
      let priority: RequestPriority =
        switch dice.roll(4) {
        case 0: .person
        case 1: .plan(due: 0)
        default: .caller(deadline: Double(dice.roll(5)))
        }
      switch dice.roll(6) {
      case 0, 1:
        let server = ["a", "b", "c"][dice.roll(3)]
        model.waiting.append((queue.enqueue(server, priority), server, priority))
      case 2 where !model.waiting.isEmpty:
        let place = dice.roll(model.waiting.count)
        model.waiting[place].priority = priority
        queue.change(model.waiting[place].ticket, to: priority)
      case 3 where !model.waiting.isEmpty:
        let left = model.waiting.remove(at: dice.roll(model.waiting.count))
        queue.withdraw(left.ticket)
      case 4 where !model.running.isEmpty:
        let ended = model.running.remove(at: dice.roll(model.running.count))
        queue.release(ended.ticket)
      default:
        let (tickets, expected) = (queue.admitted(), model.admitted())
        #expect(tickets == expected, "seed \(seed), step \(step)")
        guard tickets == expected else { return }
      }
    }
  }

  @Test("A plan that somebody comes to wait for moves up, also across servers")
  func movesUp() {
    var queue = Queue(limit: 2)
    let running = [queue.enqueue("a", .person), queue.enqueue("b", .person)]
    admit(&queue, running)
    let first = queue.enqueue("a", .plan(due: 1))
    let second = queue.enqueue("b", .plan(due: 2))
    let third = queue.enqueue("c", .plan(due: 3))
    queue.change(third, to: .caller(deadline: 9))
    queue.change(second, to: .caller(deadline: 5))
    queue.release(running[0])
    queue.release(running[1])
    admit(&queue, [second, third])
    queue.release(second)
    admit(&queue, [first])
  }

  @Test("A request that is hurried moves forward, never back, and not once it has its place")
  func hurried() {
    var queue = Queue(limit: 1)
    let running = queue.enqueue("a", .person)
    admit(&queue, [running])
    let first = queue.enqueue("b", .caller(deadline: 5))
    let second = queue.enqueue("c", .plan(due: 1))
    queue.hurry(first, to: .caller(deadline: 9))
    queue.hurry(second, to: .caller(deadline: 7))
    queue.hurry(running, to: .person)
    queue.release(running)
    admit(&queue, [first])
    queue.release(first)
    admit(&queue, [second])
  }

  @Test("Requests that wait for slow servers leave their places to others, a bounded number of them")
  func slowServers() {
    var queue = Queue(limit: 2)
    let dead = (0..<3).map { queue.enqueue("dead\($0)", plan) }
    let admitted = queue.admitted()
    #expect(admitted.count == 2)
    let living = queue.enqueue("living", plan)
    admit(&queue, [])
    let gaveWay = (queue.giveWay(dead[0]), queue.giveWay(dead[1]), queue.giveWay(dead[1]))
    #expect(gaveWay == (true, true, false), "once each")
    admit(&queue, [dead[2], living])
    queue.release(dead[0])
    #expect(queue.free == 0)
    queue.release(living)
    #expect(queue.free == 1)
    var running = [dead[2]]
    for number in 0..<20 {
      _ = queue.enqueue("more\(number)", plan)
      running += queue.admitted()
      _ = queue.giveWay(running.removeFirst())
      if running.isEmpty { break }
    }
    #expect(queue.slow <= queue.slowLimit)
    #expect(queue.runningCount <= queue.slowLimit + queue.limit)
  }

  @Test("Who leaves the queue is never admitted; who was admitted cannot leave")
  func withdraw() {
    var queue = Queue(limit: 1)
    let tickets = (0..<3).map { _ in queue.enqueue("a", plan) }
    admit(&queue, [tickets[0]])
    let left = (queue.withdraw(tickets[0]), queue.withdraw(tickets[1]))
    #expect(left == (false, true))
    queue.release(tickets[0])
    admit(&queue, [tickets[2]])
    queue.release(tickets[2])
    #expect(queue.free == 1 && queue.waitingCount == 0 && queue.runningCount == 0)
  }

  @Test("Ten thousand at one dead server delay nobody else's turn")
  func crowd() {
    var queue = Queue()
    for _ in 0..<10_000 { _ = queue.enqueue("dead", plan) }
    let admitted = queue.admitted()
    #expect(admitted.count == queue.limit / 2)
    let other = queue.enqueue("living", .plan(due: 99))
    admit(&queue, [other])
    let none = queue.admitted(most: 0)
    #expect(none.isEmpty)
  }

  @Test("Whatever comes and goes, nobody is lost and no place is given twice", arguments: 0..<50)
  func random(seed: Int) {
    var dice = Dice(seed: UInt64(seed + 1))
    var queue = Queue(limit: 1 + dice.roll(6))
    var waiting: Set<UInt64> = []
    var running: [UInt64] = []
    for _ in 0..<400 {
      switch dice.roll(8) {
      case 0, 1, 2: waiting.insert(queue.enqueue("\(dice.roll(4))", .plan(due: Double(dice.roll(9)))))
      case 3: if let ticket = waiting.min() { queue.change(ticket, to: .caller(deadline: Double(dice.roll(9)))) }
      case 4:
        if let ticket = waiting.max() {
          let isGone = queue.withdraw(ticket)
          #expect(isGone)
          waiting.remove(ticket)
        }
      case 5: if let ticket = running.first { _ = queue.giveWay(ticket) }
      default:
        if !running.isEmpty { queue.release(running.remove(at: dice.roll(running.count))) }
        for ticket in queue.admitted(most: 1 + dice.roll(3)) {
          #expect(waiting.remove(ticket) != nil)
          running.append(ticket)
        }
      }
      #expect(queue.waitingCount == waiting.count && queue.runningCount == running.count)
    }
    for _ in 0..<1_000 where !waiting.isEmpty || !running.isEmpty {
      if !running.isEmpty { queue.release(running.removeFirst()) }
      for ticket in queue.admitted() {
        waiting.remove(ticket)
        running.append(ticket)
      }
    }
    #expect(waiting.isEmpty && queue.free == queue.limit)
  }
}
