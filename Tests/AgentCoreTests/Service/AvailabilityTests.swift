import Testing

@testable import AgentCore

@Suite("Whether accounts can be served")
struct AvailabilityTests {
  @Test("a lock ends serving at once and forgets nothing, and an unlock serves what is still there")
  func lock() {
    var availability = Availability()
    #expect(!availability.isServing && !availability.isClosed, "shut: the first request opens it")
    availability.open()
    #expect(availability.isServing)
    availability.lock()
    #expect(availability.isOpen && !availability.isServing && availability.isClosed)
    availability.unlock()
    #expect(availability.isServing && !availability.isClosed)
    availability.lock()
    availability.close()
    availability.unlock()
    #expect(!availability.isServing && !availability.isClosed, "what is forgotten is read anew")
  }

  @Test("an agent that stops sends nothing and serves on")
  func stop() {
    var availability = Availability()
    availability.open()
    availability.stop()
    #expect(availability.isServing && availability.isClosed)
  }
}
