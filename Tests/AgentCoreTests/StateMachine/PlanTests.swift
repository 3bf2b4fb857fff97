import AgentWire
import Sealing
import Testing

@testable import AgentCore

@Suite("The plan: what is refreshed without anybody asking")
struct PlanTests {
  private func wait(_ driver: MachineDriver) -> Double? {
    driver.machine.wake(at: driver.now).map { $0 - driver.now.bootSeconds }
  }

  @Test(
    "three quarters of the life, spread by a tenth of it either way",
    arguments: [(0.0, 2_340.0), (0.5, 2_700), (1, 3_060)])
  func age(random: Double, seconds: Double) {
    #expect(abs(RefreshPlan.refreshAge(lifeSeconds: 3_600, random: random) - seconds) < 0.001)
    let driver = MachineDriver()
    driver.random = random
    driver.change(.login("b1"))
    driver.saved()
    #expect(abs((wait(driver) ?? 0) - seconds) < 0.001)
  }

  @Test("a token in use is refreshed before it ends, and again, and again")
  func inUse() {
    let driver = MachineDriver()
    driver.ask()
    for generation in 2..<6 {
      driver.sleepAndWake()
      driver.saved()
      driver.endsDurably(.granted("a\(generation)", refreshToken: "r\(generation)"))
      #expect(driver.durable?.accessToken == "a\(generation)")
    }
    #expect(driver.sent.count == 4)
  }

  @Test("a token that nobody asked for is left alone, and so is one last asked for two days ago")
  func idle() {
    #expect(wait(MachineDriver()) == nil)
    let driver = MachineDriver(.loggedIn(life: 30_000))
    driver.ask()
    driver.pass(2 * 86_400)
    #expect(wait(driver) == nil)
  }

  @Test("what was asked for before a restart counts")
  func restart() {
    #expect(wait(MachineDriver(.loggedIn(asked: true))) == 2_700)
  }

  @Test("two lives count as in use where they are longer than a day")
  func longLife() {
    #expect(RefreshPlan.isInUse(sinceAsked: 6 * 86_400, lifeSeconds: 3.5 * 86_400))
    #expect(!RefreshPlan.isInUse(sinceAsked: 8 * 86_400, lifeSeconds: 3.5 * 86_400))
    #expect(!RefreshPlan.isInUse(sinceAsked: nil, lifeSeconds: 1_000_000))
  }

  @Test(
    "keep: always refreshes what nobody asked for; on-demand, and servers that kill the old token, refresh nothing",
    arguments: [
      (KeepPolicy.always, false, false, true), (.inUse, false, true, true), (.onDemand, false, true, false),
      (.always, true, true, false),
    ])
  func keep(policy: KeepPolicy, isRevoking: Bool, isAsked: Bool, isPlanned: Bool) {
    let driver = MachineDriver(
      .loggedIn(refreshTokenLife: 86_400),
      .plain.with {
        $0.keep = policy
        $0.refreshRevokesAccessToken = isRevoking
      })
    if isAsked { driver.ask() }
    #expect((wait(driver) == 2_700) == isPlanned)
    #expect(policy != .onDemand || wait(driver) == nil)
  }

  @Test("an idle grant is used once at half of its refresh token's life, so that it does not lapse")
  func keepAlive() {
    let driver = MachineDriver(.loggedIn(refreshTokenLife: 1_800))
    #expect(wait(driver) == 900)
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.granted("a2", refreshTokenLife: 1_800))
    #expect(abs((wait(driver) ?? 0) - 900) < 1)
  }

  @Test("a server that does not rotate is not kept alive without pause")
  func keepAliveWithoutRotation() {
    let driver = MachineDriver(.loggedIn(refreshTokenLife: 1_800))
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.granted("a2", refreshToken: nil))
    #expect(abs((wait(driver) ?? 0) - 900) < 1)
  }

  @Test("a refresh token life of zero, which some servers send for never, plans nothing")
  func keepAliveZero() {
    #expect(wait(MachineDriver(.loggedIn(refreshTokenLife: 0))) == nil)
  }

  @Test("however short the life, five seconds lie between two planned refreshes", arguments: [0.0, 1, 3, 6])
  func floor(life: Double) {
    let driver = MachineDriver(.loggedIn(), .plain.with { $0.keep = .always })
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.granted("a2", life: life, refreshTokenLife: life))
    #expect((wait(driver) ?? 0) >= 4.9)
  }

  @Test("a planned refresh that fails waits out its back-off; the token is served meanwhile")
  func backoff() {
    let driver = MachineDriver()
    driver.ask()
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.serverError)
    #expect(wait(driver) == 1)
    #expect(driver.token(driver.ask()) == "a1")
    #expect(driver.machine.state(at: driver.now).state == .retrying)
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.serverError)
    #expect(wait(driver) == 2)
  }

  @Test("a late wake, after a suspend, refreshes once")
  func late() {
    let driver = MachineDriver(.loggedIn(), .plain.with { $0.keep = .always })
    driver.pass(100_000)
    driver.wakes()
    driver.saved()
    driver.wakes()
    #expect(driver.sent.count == 1)
  }
}
