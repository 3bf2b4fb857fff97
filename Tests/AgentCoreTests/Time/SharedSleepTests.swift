import AgentTestSupport
import Testing

@testable import AgentCore

@Suite("One sleep for many who wait")
struct SharedSleepTests {
  private actor Owner {
    let clock: ManualClock
    private var sleep = SharedSleep()
    private(set) var wakes = 0

    init(_ clock: ManualClock) { self.clock = clock }

    func shorten(to due: Double?) { sleep.shorten(to: due, by: clock, on: self) { $0.wakes += 1 } }

    func replace(until due: Double?) { sleep.replace(until: due, by: clock, on: self) { $0.wakes += 1 } }

    func cancel() { sleep.cancel() }
  }

  private let clock = ManualClock(bootSeconds: 1_000)

  private func wakes(_ expected: [Double]) async throws {
    try await eventually("sleeps until \(expected), not \(clock.wakes)") { clock.wakes == expected }
  }

  @Test("it ends at the soonest deadline, and wakes once")
  func soonest() async throws {
    let owner = Owner(clock)
    await owner.shorten(to: 1_020)
    await owner.shorten(to: 1_010)
    await owner.shorten(to: 1_030)
    await owner.shorten(to: nil)
    try await wakes([1_010])
    clock.advance(to: 1_010)
    try await eventually("it wakes") { await owner.wakes == 1 }
    clock.advance(to: 1_050)
    try await wakes([])
    #expect(await owner.wakes == 1)
  }

  @Test("another end takes its place, a later one too, and none ends it")
  func replaced() async throws {
    let owner = Owner(clock)
    await owner.replace(until: 1_010)
    await owner.replace(until: 1_020)
    try await wakes([1_020])
    await owner.replace(until: nil)
    try await wakes([])
    await owner.replace(until: 1_030)
    await owner.cancel()
    await owner.shorten(to: 1_040)
    try await wakes([1_040])
    #expect(await owner.wakes == 0)
  }
}
