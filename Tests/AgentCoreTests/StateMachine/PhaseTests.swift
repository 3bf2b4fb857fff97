import AgentWire
import Testing

@testable import AgentCore

@Suite("The phases of an account")
struct PhaseTests {
  @Test("random events, stops and reuse windows turn each into what its table names, and into nothing else")
  func table() {
    var seen: [AccountStateMachine.PhaseName: Set<AccountStateMachine.PhaseName>] = [:]
    for seed in 0..<1_500 {
      var dice = Dice(seed: UInt64(seed + 1))
      let driver = RandomEventTests.start(&dice)
      for _ in 0..<80 { step(driver, &dice) }
      seen.merge(driver.transitions) { $0.union($1) }
    }
    for phase in AccountStateMachine.PhaseName.allCases {
      #expect(seen[phase, default: []].subtracting([phase]).isSubset(of: phase.next), "\(phase)")
    }
  }

  private func step(_ driver: MachineDriver, _ dice: inout Dice) {
    switch dice.roll(16) {
    case 0: driver.closes(dice.roll(2) == 0 ? nil : AgentFailure(.vaultLocked, "the vault is locked"))
    case 1, 2: driver.reopens()
    case 3: driver.define(.plain.with { $0.reuseGraceSeconds = 60 })
    default: RandomEventTests.step(driver, &dice)
    }
  }
}
