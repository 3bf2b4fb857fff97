import AgentWire
import NIOCore
import NIOEmbedded
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

  @Test("It is fed twice in each interval, by the loop, as long as the service answers")
  func fed() async throws {
    let receiver = try NotifyReceiver()
    let loop = NIOAsyncTestingEventLoop()
    let asked = Mutex(0)
    let task = Watchdog.feed(every: 2_000_000, on: loop, notifier: receiver.notifier) { asked.withLock { $0 += 1 } }
    for round in 1...3 {
      // The word comes back to the loop from the service: what the loop does not run is not said.
      await loop.run()
      while asked.withLock({ $0 }) < round || receiver.isEmpty {
        await loop.run()
        await Task.yield()
      }
      #expect(receiver.next() == "WATCHDOG=1")
      #expect(receiver.next() == nil)
      await loop.advanceTime(by: .seconds(1))
    }
    task.cancel()
    await loop.shutdownGracefully()
  }

  @Test("A service that does not answer is silence, however often the loop comes round")
  func silence() async throws {
    let receiver = try NotifyReceiver()
    let loop = NIOAsyncTestingEventLoop()
    let asked = Mutex(0)
    let (answers, answer) = AsyncStream.makeStream(of: Void.self)
    let task = Watchdog.feed(every: 2_000_000, on: loop, notifier: receiver.notifier) {
      asked.withLock { $0 += 1 }
      for await _ in answers { break }
    }
    await loop.run()
    while asked.withLock({ $0 }) == 0 { await Task.yield() }
    for _ in 0..<5 { await loop.advanceTime(by: .seconds(1)) }
    #expect(asked.withLock { $0 } == 1)
    #expect(receiver.next() == nil)
    answer.yield()
    while receiver.isEmpty {
      await loop.run()
      await Task.yield()
    }
    #expect(receiver.next() == "WATCHDOG=1")
    task.cancel()
    answer.finish()
    await loop.shutdownGracefully()
  }
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
