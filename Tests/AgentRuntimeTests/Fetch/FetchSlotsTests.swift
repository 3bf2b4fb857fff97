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

  @Test("Requests that wait for slow servers leave their places to others, a bounded number of them")
  func slowServers() {
    var slots = FetchSlots(limit: 2)
    for number in 0..<3 { _ = slots.enqueue("https://dead\(number)") }
    #expect(slots.admitted().count == 2)
    let living = slots.enqueue("https://living")
    #expect(slots.admitted().isEmpty)
    let gaveWay = (slots.giveWay(), slots.giveWay())
    #expect(gaveWay == (true, true))
    #expect(slots.admitted().last == living)
    slots.release("https://dead0", gaveWay: true)
    #expect(slots.free == 0)
    slots.release("https://living")
    #expect(slots.free == 1)
    for number in 0..<20 {
      _ = slots.enqueue("https://more\(number)")
      if slots.admitted().isEmpty { break }
      _ = slots.giveWay()
    }
    #expect(slots.slow == slots.slowLimit)
    #expect(slots.running.values.reduce(0, +) == slots.slowLimit + slots.limit)
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
