import Testing

@testable import AgentCore

@Suite("What is due when")
struct DeadlineHeapTests {
  @Test("The soonest comes first, of two at the same time the one that was added first, and none before its time")
  func order() {
    var heap = DeadlineHeap<Double, Int>()
    let dues = (0..<500).map { Double(($0 * 7_919) % 100) }
    for (number, due) in dues.enumerated() { heap.add(number, due: due) }
    #expect(heap.soonest == 0)
    var taken: [Int] = []
    while let (number, due) = heap.takeDue(at: 49) {
      #expect(due == dues[number])
      taken.append(number)
    }
    let expected = dues.indices.filter { dues[$0] <= 49 }.sorted { (dues[$0], $0) < (dues[$1], $1) }
    #expect(taken == expected)
    #expect(heap.soonest == 50 && heap.count == 250)
  }

  @Test("The dead are removed once they are more than the living, and the order of the others stays")
  func compact() {
    var heap = DeadlineHeap<Int, Int>()
    for number in 0..<1_000 {
      heap.add(number, due: 1_000 - number)
      heap.compact(living: 0) { number, _ in number.isMultiple(of: 100) }
      #expect(heap.count <= 65 + number / 100)
    }
    heap.dropDead { number, _ in !number.isMultiple(of: 100) }
    var taken: [Int] = []
    while let (number, _) = heap.takeDue(at: .max) { taken.append(number) }
    #expect(taken.filter { $0.isMultiple(of: 100) } == [900, 800, 700, 600, 500, 400, 300, 200, 100, 0])
  }
}
