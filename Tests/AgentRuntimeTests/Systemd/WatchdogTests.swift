import AgentWire
import Glibc
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("The service manager's watchdog")
struct WatchdogTests {
  @Test(
    "The interval is read when it is meant for this process",
    arguments: [
      ([:], nil), (["WATCHDOG_USEC": "30000000"], 30_000_000),
      (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"], 30_000_000),
      (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "41"], nil), (["WATCHDOG_PID": "42"], nil),
      (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "-1"], nil), (["WATCHDOG_USEC": "30s"], nil),
      (["WATCHDOG_USEC": ""], nil), (["WATCHDOG_USEC": "99999999999999999999"], nil),
    ] as [([String: String], Int64?)])
  func interval(_ environment: [String: String], _ expected: Int64?) {
    #expect(Watchdog.intervalMicroseconds(environment, pid: 42) == expected)
  }

  /// Sleeps that end when the test says so.
  private final class Sleeps: Sendable {
    private let (begun, begin) = AsyncStream.makeStream(of: Duration.self)
    private let (ended, end) = AsyncStream.makeStream(of: Void.self)

    @Sendable func sleep(_ duration: Duration) async throws {
      begin.yield(duration)
      for await _ in ended { break }
      try Task.checkCancellation()
    }

    /// How long the next sleep is, once it has begun.
    func next() async -> Duration? {
      for await duration in begun { return duration }
      return nil
    }

    func wake() { end.yield() }
  }

  @Test("It is fed twice in each interval, as long as the service answers, until it is cancelled")
  func fed() async throws {
    let receiver = try NotifyReceiver()
    let asked = Mutex(0)
    let sleeps = Sleeps()
    let task = Watchdog.feed(
      every: 2_000_000, on: try ServingLoop.start(), notifier: receiver.notifier, sleep: sleeps.sleep
    ) { asked.withLock { $0 += 1 } }
    for round in 1...3 {
      #expect(await sleeps.next() == .seconds(1))
      #expect(asked.withLock { $0 } == round)
      #expect(receiver.next() == "WATCHDOG=1")
      #expect(receiver.next() == nil)
      if round < 3 { sleeps.wake() }
    }
    task.cancel()
    #expect(await task.result.isFailure)
    #expect(receiver.isEmpty)
  }

  @Test("A manager that wants a word in each microsecond gets one in ten milliseconds")
  func shortest() async throws {
    let sleeps = Sleeps()
    let receiver = try NotifyReceiver()
    let task = Watchdog.feed(
      every: 1, on: try ServingLoop.start(), notifier: receiver.notifier, sleep: sleeps.sleep
    ) {}
    #expect(await sleeps.next() == .milliseconds(10))
    task.cancel()
  }

  @Test("A service that does not answer is silence")
  func silence() async throws {
    let receiver = try NotifyReceiver()
    let loop = try ServingLoop.start()
    let (answers, answer) = AsyncStream.makeStream(of: Void.self)
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let sleeps = Sleeps()
    let task = Watchdog.feed(every: 2_000_000, on: loop, notifier: receiver.notifier, sleep: sleeps.sleep) {
      ask.yield()
      for await _ in answers { break }
    }
    for await _ in asked { break }
    for _ in 0..<5 { await loop.run { _ in } }
    #expect(receiver.isEmpty)
    answer.yield()
    _ = await sleeps.next()
    #expect(receiver.next() == "WATCHDOG=1")
    task.cancel()
  }

  @Test("A loop that hangs is silence, though the service answers")
  func hangingLoop() async throws {
    let receiver = try NotifyReceiver()
    let loop = try ServingLoop.start()
    let (near, far) = try FarEnd.pair()
    defer { close(near) }
    // Holds the loop's own thread until a byte comes.
    loop.execute { _ in
      var wanted = pollfd(fd: near, events: Int16(POLLIN), revents: 0)
      poll(&wanted, 1, -1)
    }
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let sleeps = Sleeps()
    let task = Watchdog.feed(every: 2_000_000, on: loop, notifier: receiver.notifier, sleep: sleeps.sleep) {
      ask.yield()
    }
    for await _ in asked { break }
    for _ in 0..<100 { await Task.yield() }
    #expect(receiver.isEmpty)
    far.send("x")
    _ = await sleeps.next()
    #expect(receiver.next() == "WATCHDOG=1")
    task.cancel()
  }
}

extension Result {
  fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}

@Suite("What the service manager is told")
struct SupervisionTests {
  @Test(
    "The status line counts accounts, and names the first problem and its place",
    arguments: [
      (0, [], "serving 0 accounts"), (1, [], "serving 1 account"),
      (
        2, [ConfigurationProblem(file: "/c/a.toml", line: 3, key: "issuer", reason: "is no URL")],
        "serving 2 accounts; a file has a problem: /c/a.toml:3: issuer is no URL"
      ),
      (
        2,
        [
          ConfigurationProblem(file: "/c/\u{1B}[2J", line: nil, key: nil, reason: "is empty"),
          ConfigurationProblem(file: "/c/b.toml", line: nil, key: nil, reason: "is empty"),
        ], "serving 2 accounts; a file has a problem: /c/\\u{1B}[2J: is empty (and 1 more)"
      ),
    ])
  func status(_ accounts: Int, _ problems: [ConfigurationProblem], _ expected: String) {
    #expect(Supervision.status(accounts: accounts, problems: problems) == expected)
  }

  @Test("A vault that cannot be opened is told with its reason")
  func failure() {
    let failure = AgentFailure(.vaultDamaged, "the vault is damaged")
    #expect(Supervision.status(failure: failure) == "answering failures: the vault is damaged")
  }
}
