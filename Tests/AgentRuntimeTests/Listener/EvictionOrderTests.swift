import Testing

@testable import AgentRuntime

@Suite("Who makes room for newcomers")
struct EvictionOrderTests {
  private typealias Candidate = EvictionOrder.Candidate

  private func candidate(_ number: UInt64, since: Int64, unfinished: Bool = false) -> Candidate {
    Candidate(number: number, since: LoopTime(nanoseconds: since), hasUnfinishedLine: unfinished)
  }

  private func order(_ candidates: [Candidate], share: Int) -> [UInt64] {
    var order = EvictionOrder()
    order.choose(from: candidates, share: share)
    var numbers: [UInt64] = []
    while let next = order.next({ _ in true }) { numbers.append(next.number) }
    return numbers
  }

  @Test("Idle connections go first, then unfinished lines, the longest first")
  func idleFirst() {
    let candidates = [
      candidate(1, since: 5), candidate(2, since: 1, unfinished: true), candidate(3, since: 4),
      candidate(4, since: 0, unfinished: true),
    ]
    #expect(order(candidates, share: 2) == [3, 1, 4, 2])
  }

  @Test("Unfinished lines beyond their share go before anybody idle, the longest first")
  func share() {
    let unfinished = (1...6).map { candidate($0, since: Int64($0), unfinished: true) }
    let idle = [candidate(10, since: 0), candidate(11, since: 9)]
    #expect(order(unfinished.reversed() + idle, share: 4) == [1, 2, 10, 11, 3, 4, 5, 6])
    #expect(order(unfinished + idle, share: 0) == [1, 2, 3, 4, 5, 6, 10, 11])
  }

  @Test("One look at all finds a batch; who has changed since stays")
  func batch() {
    let candidates = (0..<1_000).map { candidate($0, since: Int64($0), unfinished: true) }
    #expect(order(candidates, share: 500) == Array(0..<UInt64(EvictionOrder.batch)))
    var evictions = EvictionOrder()
    evictions.choose(from: candidates, share: 500)
    #expect(evictions.next { $0.number >= 100 }?.number == 100)
    #expect(evictions.next { _ in false } == nil)
    #expect(evictions.next { _ in true } == nil)
  }
}
