import Testing

@testable import AgentCore

@Suite("Who is called when")
struct AlarmsTests {
  @Test("Each key has one moment; the soonest is at hand, and whoever is due is taken out in order")
  func order() {
    var alarms = Alarms<String>()
    alarms["a"] = 3
    alarms["b"] = 1
    alarms["c"] = 2
    alarms["b"] = 5
    let first = alarms.first()
    #expect(first == 2)
    let due = alarms.takeDue(at: 3)
    #expect(due == ["c", "a"])
    let next = alarms.first()
    #expect(next == 5 && alarms.count == 1)
    alarms["b"] = nil
    let last = alarms.first()
    #expect(last == nil)
  }

  @Test("A key that is moved often leaves nothing behind")
  func moved() {
    var alarms = Alarms<Int>()
    for moment in 0..<10_000 { alarms[moment % 3] = Double(20_000 - moment) }
    for moment in 0..<10_000 { alarms[0] = Double(20_000 + moment % 2) }
    #expect(alarms.count == 3 && alarms.entryCount < 100, "nor one that is set to the same two moments in turn")
    let due = alarms.takeDue(at: 30_000)
    #expect(due.count == 3)
  }
}
