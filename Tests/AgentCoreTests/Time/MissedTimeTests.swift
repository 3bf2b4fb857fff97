import Testing

@testable import AgentCore

@Suite("What a server's clock says of moments before")
struct MissedTimeTests {
  /// Now, two hours after boot, where the wall clock shows `wall` seconds more than it did at boot.
  private func moment(_ boot: Double, ahead wall: Double = 0, behind: Double? = nil, boot id: String = "b") -> Moment {
    Moment(bootID: id, bootSeconds: boot, wallSeconds: 1_000_000 + boot + wall, behindSeconds: behind)
  }

  /// The server's clock shows `ahead` seconds more than the wall clock did at boot.
  private func clock(_ boot: Double, ahead: Double) -> ServerClock {
    ServerClock(dateSeconds: Int64(1_000_000 + boot + ahead), sent: moment(boot), received: moment(boot))
  }

  @Test("what had the server's clock is as old as that says, and has the wall clock of now; once")
  func own() {
    let missed = MissedTime(clock: clock(200, ahead: 5_000), former: nil, noticed: moment(200, ahead: 5_000))
    let aged = missed.applied(to: moment(100, behind: 0.5))
    #expect(abs(aged.bootSeconds + 4_900) < 1 && abs(aged.wallSeconds - 1_000_100) < 1)
    #expect(aged.behindSeconds.map { abs($0 - 0.5) < 1 } == true)
    #expect(missed.applied(to: aged) == aged)
  }

  @Test("a clock that was set makes nothing older, and is that of what came before")
  func set() {
    let missed = MissedTime(clock: clock(200, ahead: 0), former: nil, noticed: moment(200, ahead: 5_000))
    let same = missed.applied(to: moment(100, behind: 0))
    #expect(same.bootSeconds == 100 && same.wallSeconds == 1_005_100 && same.behindSeconds == -5_000)
  }

  @Test("what had not is older by what the server has said since its last answer, as far as it is known")
  func former() {
    let noticed = moment(200, ahead: 5_000)
    let missed = MissedTime(clock: clock(200, ahead: 5_001), former: clock(50, ahead: 0), noticed: noticed)
    #expect(missed.applied(to: moment(100)).bootSeconds == -4_900 && missed.seconds == 5_000)
  }

  @Test("an answer that came after the machine stood still says nothing of the time before it")
  func laterFormer() {
    let noticed = moment(200, ahead: 5_000)
    let missed = MissedTime(clock: clock(200, ahead: 5_001), former: clock(150, ahead: 5_000), noticed: noticed)
    #expect(missed.applied(to: moment(100)).bootSeconds == -4_900)
    #expect(missed.applied(to: moment(160, ahead: 5_000)).bootSeconds == 160)
  }

  @Test("of a server that answers and does not say what time it is, the wall clock's word counts")
  func silent() {
    let missed = MissedTime(clock: nil, former: clock(50, ahead: 0), noticed: moment(200, ahead: 5_000))
    #expect(missed.aged(moment(100, behind: 0)).bootSeconds == -4_900 && missed.seconds == nil)
  }

  @Test("where nobody knows, the wall clock's word counts")
  func unknown() {
    let missed = MissedTime(clock: clock(200, ahead: 5_001), former: nil, noticed: moment(200, ahead: 5_000))
    #expect(missed.applied(to: moment(100)).bootSeconds == -4_900 && missed.seconds == nil)
    let behind = MissedTime(clock: clock(200, ahead: 0), former: nil, noticed: moment(200, ahead: -600))
    #expect(behind.applied(to: moment(100)).bootSeconds == 100)
  }

  @Test("an answer of before a pause is as old as its server says; where the wall clock stood no date makes one older")
  func agedAnswer() {
    let sent = moment(100, behind: 0)
    #expect(sent.aged(by: moment(200, ahead: 5_000, behind: 0)).bootSeconds == -4_900)
    #expect(sent.aged(by: moment(200, ahead: 5_000)).bootSeconds == -4_900)
    // The clock was set right.
    #expect(sent.aged(by: moment(200, ahead: 5_000, behind: -5_000)) == sent)
    // The server's word alone.
    #expect(sent.aged(by: moment(200, behind: 8_000)) == sent)
    #expect(sent.aged(by: moment(200, ahead: 5_000, behind: 0, boot: "a")) == sent)
  }

  @Test("what came later, or in another boot, is as it was, and so is what is off by less than a minute")
  func others() {
    let missed = MissedTime(clock: clock(200, ahead: 5_000), former: nil, noticed: moment(200, ahead: 5_000))
    for moment in [moment(201, ahead: 5_000, behind: 0), moment(100, behind: 0, boot: "a")] {
      #expect(missed.applied(to: moment) == moment)
    }
    let small = MissedTime(clock: clock(200, ahead: 50), former: nil, noticed: moment(200, ahead: 50))
    #expect(small.applied(to: moment(100, behind: 0)) == moment(100, behind: 0))
  }
}
