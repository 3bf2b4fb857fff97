import Testing

@testable import AgentRuntime

@Suite("Places for helpers")
struct FetchSlotsTests {
  @Test("Different origins take every place, in order of arrival; the rest wait")
  func manyOrigins() {
    var slots = FetchSlots(limit: 3)
    let tickets = (0..<5).map { slots.enqueue("https://\($0)") }
    #expect(slots.admitted() == Array(tickets[..<3]))
    #expect(slots.admitted().isEmpty)
    slots.release("https://1")
    #expect(slots.admitted() == [tickets[3]])
  }

  @Test("One origin never takes more than half, and the next one starts at once")
  func oneOrigin() {
    var slots = FetchSlots(limit: 8)
    let slow = (0..<100).map { _ in slots.enqueue("https://slow") }
    #expect(slots.admitted() == Array(slow[..<4]))
    let other = slots.enqueue("https://other")
    #expect(slots.admitted() == [other])
  }

  @Test("A single place is shared in turn")
  func singlePlace() {
    var slots = FetchSlots(limit: 1)
    let first = slots.enqueue("a")
    let second = slots.enqueue("a")
    #expect(slots.admitted() == [first])
    slots.release("a")
    #expect(slots.admitted() == [second])
  }

  @Test("Who leaves the queue is never admitted; who was admitted cannot leave")
  func withdraw() {
    var slots = FetchSlots(limit: 1)
    let first = slots.enqueue("a")
    let second = slots.enqueue("a")
    #expect(slots.admitted() == [first])
    let left = (slots.withdraw(first), slots.withdraw(second))
    #expect(left == (false, true))
    slots.release("a")
    #expect(slots.admitted().isEmpty)
    #expect(slots.free == 1 && slots.running.isEmpty)
  }

  @Test(
    "The origin of a URL",
    arguments: [
      ("https://AS.example/token?x", "https://as.example"), ("https://as.example:8443/", "https://as.example:8443"),
      ("https://as.example", "https://as.example"), ("https://as.example?a/b", "https://as.example"), ("", ""),
    ])
  func origin(url: String, expected: String) {
    #expect(FetchSlots.origin(of: url) == expected)
  }
}
