import Synchronization
import SystemFacts
import Testing

@testable import AgentRuntime

@Suite("Calls at moments of boot time")
struct BootAlarmTests {
  private let queue: EventQueue
  private let alarm: BootAlarm
  private let now = BootClock.seconds()

  init() throws {
    queue = try #require(EventQueue())
    alarm = try #require(BootAlarm(queue: queue))
  }

  /// Sets calls for these moments; each keeps its number in what is returned.
  private func set(_ dues: [Double]) -> () -> [Int] {
    var called: [Int] = []
    for (number, due) in dues.enumerated() { alarm.set(UInt64(number), due: due) { called.append(number) } }
    return { called }
  }

  @Test("They come in the order of their times, and of two at the same time as they were set")
  func order() {
    let called = set([now + 0.02, now, now + 0.01, now - 5, now + 0.01])
    while alarm.count > 0 { queue.turn(waits: true) }
    #expect(called() == [3, 1, 2, 4, 0])
    queue.turn(waits: false)
    #expect(queue.readyInTurn == 0, "with nothing left to call it is off")
  }

  @Test("None comes before its time")
  func notBefore() {
    let called = set([now + 3_600, now + 0.02])
    while called().isEmpty { queue.turn(waits: true) }
    #expect(BootClock.seconds() >= now + 0.02)
    #expect(called() == [1] && alarm.count == 1)
  }

  @Test("A cancelled one never comes, and the next one does", arguments: [[0], [1], [0, 1], [2]])
  func cancelled(_ ids: [UInt64]) {
    let called = set([now, now + 0.01, now + 0.02])
    for id in ids { alarm.cancel(id) }
    while alarm.count > 0 { queue.turn(waits: true) }
    #expect(called() == [0, 1, 2].filter { !ids.contains(UInt64($0)) })
  }

  @Test("A call may set and cancel others")
  func nested() {
    var called: [Int] = []
    alarm.set(2, due: now + 3_600) { called.append(2) }
    alarm.set(1, due: now) {
      called.append(1)
      alarm.cancel(2)
      alarm.set(3, due: now) { called.append(3) }
    }
    while alarm.count > 0 { queue.turn(waits: true) }
    #expect(called == [1, 3])
  }

  @Test("Of many that are set and cancelled, in any order, the others come, and nothing is left")
  func crowd() {
    let count = 2_000
    let called = set((0..<count).map { now - 1 + Double(($0 * 7_919) % count) / Double(count) })
    for number in 0..<count where !number.isMultiple(of: 3) { alarm.cancel(UInt64(number)) }
    while alarm.count > 0 { queue.turn(waits: true) }
    let expected = (0..<count).filter { $0.isMultiple(of: 3) }.sorted { ($0 * 7_919) % count < ($1 * 7_919) % count }
    #expect(called() == expected)
    queue.turn(waits: false)
    #expect(queue.readyInTurn == 0)
  }
}
