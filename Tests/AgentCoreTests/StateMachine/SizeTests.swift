import Testing

@testable import AgentCore

struct SizeTests {
  @Test("an account of which nothing is kept takes half a kilobyte: there may be ten thousand")
  func machine() { #expect(MemoryLayout<AccountStateMachine>.size <= 512) }
}
