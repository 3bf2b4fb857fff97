import Glibc
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("The serving loop")
struct ServingLoopTests {
  /// Keeps what comes, in its order.
  private final class Log<Value: Sendable>: Sendable {
    private let state = Mutex<[Value]>([])
    var all: [Value] { state.withLock { $0 } }
    func add(_ value: Value) { state.withLock { $0.append(value) } }
  }

  @Test("Work is done in the order it is given, all of it on the one thread that has the loop's name")
  func order() async throws {
    let loop = try ServingLoop.start()
    let (log, threads) = (Log<Int>(), Log<String>())
    for number in 0..<1_000 {
      loop.execute { _ in
        log.add(number)
        threads.add(Self.read("/proc/thread-self/comm") + String(pthread_self()))
      }
    }
    #expect(await loop.run { _ in log.all } == Array(0..<1_000))
    #expect(Set(threads.all).count == 1)
    #expect(threads.all.first?.hasPrefix(ServingLoop.threadName + "\n") == true)
  }

  @Test("Nothing that many threads give at once is lost, and each finds its own in its order")
  func manyThreads() async throws {
    let loop = try ServingLoop.start()
    let log = Log<[Int]>()
    await withTaskGroup(of: Void.self) { group in
      for source in 0..<8 {
        group.addTask {
          for number in 0..<500 {
            loop.execute { _ in log.add([source, number]) }
            // Now and then it has to be woken.
            if number.isMultiple(of: 50) { await loop.run { _ in } }
          }
        }
      }
    }
    await loop.run { _ in }
    for source in 0..<8 { #expect(log.all.filter { $0[0] == source }.map { $0[1] } == Array(0..<500)) }
  }

  @Test("Work that is given by work comes after it")
  func nested() async throws {
    let loop = try ServingLoop.start()
    let log = Log<Int>()
    await withCheckedContinuation { continuation in
      loop.execute { _ in
        loop.execute { _ in
          log.add(2)
          continuation.resume()
        }
        log.add(1)
      }
    }
    #expect(log.all == [1, 2])
  }

  @Test("Of much work that was given, descriptors are served in between, and each piece is done in its order")
  func batches() async throws {
    let loop = try ServingLoop.start()
    let log = Log<Int>()
    let count = 10 * ServingLoop.workInTurn
    let turns = await withCheckedContinuation { continuation in
      loop.execute { queue in
        // All of it is there before any of it is done.
        for number in 0..<count { loop.execute { _ in log.add(number) } }
        let first = queue.turnNumber
        loop.execute { queue in continuation.resume(returning: queue.turnNumber - first) }
      }
    }
    #expect(log.all == Array(0..<count))
    // The last piece is behind ten turns' work, in the turn after them.
    #expect(turns == 11)
  }

  @Test("All work of a loop gets the same queue, and another loop gets another")
  func queues() async throws {
    let (loop, other) = (try ServingLoop.start(), try ServingLoop.start())
    let queue = await loop.run { ObjectIdentifier($0) }
    #expect(await loop.run { ObjectIdentifier($0) } == queue)
    #expect(await other.run { ObjectIdentifier($0) } != queue)
  }

  @Test("Once all work is done, the thread sleeps", .timeLimit(.minutes(10)))
  func sleeps() async throws {
    let loop = try ServingLoop.start()
    await loop.run { _ in }
    let thread = await loop.run { _ in Self.read("/proc/thread-self/stat").prefix { $0 != " " } }
    // A bell that goes on ringing would keep it running.
    while !Self.read("/proc/self/task/\(thread)/stat").contains(") S ") { await Task.yield() }
  }

  /// A small file of proc(5).
  private static func read(_ path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = Glibc.read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  @Test("What belongs to a loop is given out to nobody else")
  func bound() async {
    await #expect(processExitsWith: .failure) {
      guard let queue = EventQueue(), let other = EventQueue() else { return }
      _ = LoopBound(1, queue).value(on: other)
    }
  }
}
