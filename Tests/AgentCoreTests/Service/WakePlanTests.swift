import Testing

@testable import AgentCore

@Suite("The plan of wakes")
struct WakePlanTests {
  private func sleeping() -> WakePlan {
    var plan = WakePlan()
    #expect(plan.set(.account("a"), at: 20) == true)
    #expect(plan.beginSleep() == 20)
    return plan
  }

  @Test("another sleep begins for an earlier moment, and when the first of all changes; for nothing else")
  func sleeps() {
    var plan = sleeping()
    let later = plan.set(.account("b"), at: 30)
    let unchanged = plan.set(.account("a"), at: 20)
    #expect(!later && !unchanged)
    #expect(plan.set(.account("c"), at: 10) == true)
    #expect(plan.beginSleep() == 10)
    #expect(plan.set(.account("c"), at: nil) == true)
    #expect(plan.beginSleep() == 20)
    #expect(plan.set(.account("a"), at: 40) == true, "the first comes later now")
    #expect(plan.beginSleep() == 30)
    let other = plan.set(.account("a"), at: nil)
    #expect(!other && plan[.account("a")] == nil && plan[.account("b")] == 30)
  }

  @Test("nobody sleeps where nothing is planned")
  func nothing() {
    var plan = sleeping()
    #expect(plan.set(.account("a"), at: nil) == true)
    #expect(plan.beginSleep() == nil)
  }

  @Test("what is set while the due ones are called begins one sleep, when all were called")
  func due() {
    var plan = sleeping()
    _ = plan.set(.account("b"), at: 21)
    #expect(plan.takeDue(at: 20) == [.account("a")])
    let early = plan.set(.account("a"), at: 5)
    let moved = plan.set(.account("b"), at: 50)
    #expect(!early && !moved)
    #expect(plan.beginSleep() == 5)
  }

  @Test("accounts are woken in turns, in order, and those who come meanwhile after them")
  func turns() {
    var plan = WakePlan()
    let names = (0..<WakePlan.wakesInTurn + 10).map { "a\($0)" }
    let nobody = plan.queue([])
    #expect(!nobody)
    #expect(plan.queue(names) == true)
    let again = plan.queue(["z"])
    #expect(!again, "the turns have begun")
    #expect(plan.takeTurn() == Array(names.prefix(WakePlan.wakesInTurn)))
    plan.endTurn()
    #expect(plan.isWaking)
    #expect(plan.takeTurn() == names.suffix(10) + ["z"])
    plan.endTurn()
    #expect(!plan.isWaking)
    #expect(plan.queue(["y"]) == true)
  }

  @Test("a plan that was cleared calls nobody, and the turns that had begun end")
  func cleared() {
    var plan = sleeping()
    _ = plan.queue(["a"])
    plan.clear()
    #expect(plan.beginSleep() == nil && plan.takeDue(at: 100).isEmpty && plan.isWaking)
    #expect(plan.takeTurn().isEmpty)
    plan.endTurn()
    #expect(!plan.isWaking)
  }
}
