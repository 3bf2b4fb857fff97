import Testing

@testable import AgentCore

struct SizeTests {
  @Test("an account of which nothing is kept takes half a kilobyte: there may be ten thousand")
  func machine() { #expect(MemoryLayout<AccountStateMachine>.size <= 512) }

  @Test("an answer of the machine is a pointer: those to thousands who waited stand in one list")
  func action() { #expect(MemoryLayout<AccountStateMachine.Action>.size <= 8) }
}
