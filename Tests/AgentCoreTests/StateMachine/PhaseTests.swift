import AgentWire
import Testing

@testable import AgentCore

@Suite("The phases of an account")
struct PhaseTests {
  private typealias Transitions = [AccountStateMachine.PhaseName: Set<AccountStateMachine.PhaseName>]

  @Test("events turn each into all that its table names, and into nothing else")
  func table() {
    var seen: Transitions = [:]
    for seed in 0..<1_500 { seen.merge(walk(seed)) { $0.union($1) } }
    for seldom in [seldomAmbiguous(), seldomChanged()] { seen.merge(seldom) { $0.union($1) } }
    for phase in AccountStateMachine.PhaseName.allCases {
      #expect(seen[phase, default: []].subtracting([phase]) == phase.next, "\(phase)")
    }
  }

  /// Random events, stops and reuse windows.
  private func walk(_ seed: Int) -> Transitions {
    var dice = Dice(seed: UInt64(seed + 1))
    let driver = RandomEventTests.start(&dice)
    for _ in 0..<80 {
      switch dice.roll(16) {
      case 0: driver.closes(dice.roll(2) == 0 ? nil : AgentFailure(.vaultLocked, "the vault is locked"))
      case 1, 2: driver.reopens()
      case 3: driver.define(.plain.with { $0.reuseGraceSeconds = 60 })
      default: RandomEventTests.step(driver, &dice)
      }
    }
    return driver.transitions
  }

  /// A request that left nothing is taken back, the disk fails, and meanwhile the file forbids to send once more.
  private func seldomAmbiguous() -> Transitions {
    let driver = MachineDriver(.expired().withIntent(attempt: 1))
    driver.ask()
    driver.saved()
    driver.ends(.notSent("no route"))
    driver.saveFails()
    driver.define(.plain.with { $0.ambiguousRetry = .never })
    driver.pass(5)
    driver.wakes()
    driver.saved()
    #expect(driver.transitions[.retryingSave]?.contains(.savingAnswer) == true)
    return driver.transitions
  }

  /// The first request is lost while the second is written down, of a login that seems to be over, and somebody logs out.
  private func seldomChanged() -> Transitions {
    var verdict = GrantVerdict(.loginRequired, "no answer (unconfirmed)")
    verdict.isUnconfirmed = true
    let driver = MachineDriver(
      .expired().with { $0.grant?.verdict = verdict }, .plain.with { $0.reuseGraceSeconds = 60 })
    driver.wakes()
    driver.saved()
    driver.pass(16)
    driver.wakes()
    driver.change(.logout())
    driver.ends(.sentNoAnswer("the connection broke"))
    driver.saved()
    #expect(driver.transitions[.savingSecondIntent]?.contains(.savingChange) == true)
    return driver.transitions
  }
}
