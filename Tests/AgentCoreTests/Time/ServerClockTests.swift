import Testing

@testable import AgentCore

@Suite("The server's clock")
struct ServerClockTests {
  private func moment(_ boot: Double, wall: Double) -> Moment {
    Moment(bootID: "b", bootSeconds: boot, wallSeconds: wall)
  }

  private func clock(_ date: Int64, boot: Double, took: Double = 0) -> ServerClock {
    ServerClock(
      dateSeconds: date, sent: moment(boot, wall: 0), received: moment(boot + took, wall: 0))
  }

  @Test(
    "the difference is told in words a person uses, and small ones are not",
    arguments: [
      (10_800.0, "3 h behind that of h"), (-10_800, "3 h ahead of that of h"), (420, "7 min behind that of h"),
      (-3 * 86_400, "3 d ahead of that of h"), (5_400, "90 min behind that of h"), (290, nil), (-290, nil),
    ])
  func words(behind: Double, expected: String?) {
    let remark = clock(Int64(1_000_000 + behind), boot: 100).remark(host: "h", at: moment(100, wall: 1_000_000))
    #expect(remark == expected.map { "this machine's clock is \($0)" })
  }

  @Test("it goes on with the boot clock, so a wall clock that is set right is right at once")
  func goesOn() {
    let told = clock(1_010_800, boot: 100)
    #expect(told.remark(host: "h", at: moment(5_100, wall: 1_005_000)) != nil)
    #expect(told.remark(host: "h", at: moment(5_100, wall: 1_015_800)) == nil)
  }

  @Test("a pause is only what no slow answer and no second cut off can explain")
  func pause() {
    let before = clock(1_000, boot: 100)
    #expect(clock(2_000, boot: 1_100).pauseSeconds(since: before) == 0)
    #expect(clock(2_060, boot: 1_100, took: 60).pauseSeconds(since: before) == 0)
    #expect(clock(5_000, boot: 1_100).pauseSeconds(since: before) == 2_999)
    #expect(clock(500, boot: 1_100).pauseSeconds(since: before) == 0, "a server's clock that was set back")
  }

  @Test("a wall clock that is kept right does not move; one that is set does, either way")
  func watch() {
    let watch = ClockStepDetector(at: moment(100, wall: 1_000))
    #expect(!watch.hasMoved(at: moment(90_100, wall: 91_050)))
    #expect(watch.hasMoved(at: moment(101, wall: 1_062)))
    #expect(watch.hasMoved(at: moment(101, wall: 900)))
  }
}
