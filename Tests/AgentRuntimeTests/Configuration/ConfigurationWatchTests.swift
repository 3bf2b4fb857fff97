import AgentCore
import Glibc
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("Watching the configuration files")
struct ConfigurationWatchTests {
  /// How often a change was told.
  private final class Count: Sendable {
    private let state = Mutex((count: 0, waiting: [(Int, CheckedContinuation<Void, Never>)]()))

    var count: Int { state.withLock { $0.count } }

    func add() {
      let woken = state.withLock { state in
        state.count += 1
        let woken = state.waiting.filter { $0.0 <= state.count }
        state.waiting.removeAll { $0.0 <= state.count }
        return woken
      }
      for (_, waiter) in woken { waiter.resume() }
    }

    func reaches(_ count: Int) async {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if state.count >= count { return true }
          state.waiting.append((count, continuation))
          return false
        }
        if isThere { continuation.resume() }
      }
    }
  }

  private static func write(_ path: String, _ text: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
    close(file)
  }

  @Test(
    "A file that is written, put in place or deleted is seen, and one of a folder that came later",
    .timeLimit(.minutes(10)))
  func changes() async throws {
    let scratch = try ScratchFolder()
    let folder = ConfigurationFolder(path: scratch.path, home: nil)
    let watch = try #require(ConfigurationWatch.armed(folder))
    let count = Count()
    #expect(!watch.hasUnreportedChange)
    // Before anybody listens, too.
    mkdir(folder.accountsFolder, 0o700)
    #expect(watch.hasUnreportedChange)
    await watch.listen(on: try ServingLoop.start()) { count.add() }
    await count.reaches(1)
    #expect(!watch.hasUnreportedChange)
    Self.write(folder.accountFile("work"), "x")
    await count.reaches(2)
    Self.write(scratch.path + "/new", "y")
    await count.reaches(3)
    rename(scratch.path + "/new", folder.accountFile("work"))
    await count.reaches(4)
    unlink(folder.accountFile("work"))
    await count.reaches(5)
  }

  @Test("A folder that takes the place of another is looked at in its stead", .timeLimit(.minutes(10)))
  func replaced() async throws {
    let scratch = try ScratchFolder()
    let folder = ConfigurationFolder(path: scratch.path, home: nil)
    mkdir(folder.accountsFolder, 0o700)
    let watch = try #require(ConfigurationWatch.armed(folder))
    let count = Count()
    await watch.listen(on: try ServingLoop.start()) { count.add() }
    mkdir(scratch.path + "/other", 0o700)
    await count.reaches(1)
    rename(folder.accountsFolder, scratch.path + "/old")
    rename(scratch.path + "/other", folder.accountsFolder)
    await count.reaches(2)
    Self.write(folder.accountFile("work"), "x")
    await count.reaches(3)
  }

  @Test("The whole folder may be moved away, and back", .timeLimit(.minutes(10)))
  func moved() async throws {
    let scratch = try ScratchFolder()
    let folder = ConfigurationFolder(path: scratch.path + "/oauthctl", home: nil)
    mkdir(folder.path, 0o700)
    mkdir(folder.accountsFolder, 0o700)
    let watch = try #require(ConfigurationWatch.armed(folder))
    let count = Count()
    await watch.listen(on: try ServingLoop.start()) { count.add() }
    rename(folder.path, scratch.path + "/away")
    await count.reaches(1)
    rename(scratch.path + "/away", folder.path)
    await count.reaches(2)
  }

  @Test("A change is told when it has been calm for a while, and at the latest when patience ends")
  func calm() async throws {
    let scratch = try ScratchFolder()
    let watch = try #require(ConfigurationWatch.armed(ConfigurationFolder(path: scratch.path, home: nil)))
    let (loop, count) = (try TestLoop(), Count())
    // A folder that is still being looked at when it is calm is told once more: here that is done at once.
    await watch.listen(
      on: loop.loop,
      beside: { work in
        work()
        return true
      }
    ) { count.add() }
    func change(then span: LoopSpan) async {
      Self.write(scratch.path + "/config.toml", "x")
      await loop.turn()
      await loop.advance(span)
    }
    let most = ConfigurationWatch.patience.nanoseconds / ConfigurationWatch.calm.nanoseconds
    // Each just before it would have been calm.
    let almost = LoopSpan(nanoseconds: ConfigurationWatch.calm.nanoseconds - 1)
    for number in 1...most {
      await change(then: almost)
      #expect(count.count == 0, "change \(number)")
    }
    await change(then: almost)
    #expect(count.count == 1, "patience has ended")
    await change(then: almost)
    #expect(count.count == 1, "it begins anew")
    await loop.advance(ConfigurationWatch.calm)
    #expect(count.count == 2)
    await loop.advance(.seconds(100))
    #expect(count.count == 2, "once for all")
  }

  @Test("A folder is looked at beside the loop alone: where it hangs, nobody waits")
  func besideTheLoop() async throws {
    let scratch = try ScratchFolder()
    let folder = ConfigurationFolder(path: scratch.path, home: nil)
    let watch = try #require(ConfigurationWatch.armed(folder))
    let (loop, count, looks) = (try TestLoop(), Count(), Count())
    await watch.listen(
      on: loop.loop,
      beside: { _ in
        looks.add()
        return true
      }
    ) { count.add() }
    mkdir(folder.accountsFolder, 0o700)
    await loop.turn()
    #expect(looks.count == 1)
    Self.write(folder.accountFile("work"), "x")
    await loop.turn()
    await loop.advance(ConfigurationWatch.calm)
    #expect(looks.count == 1 && count.count == 1 && !watch.hasEvents, "nobody has looked at the new folder yet")
  }

  @Test("Reading the files is no change, and a folder that is not there no mistake")
  func reading() throws {
    let scratch = try ScratchFolder()
    let configuration = FileConfiguration(
      folder: ConfigurationFolder(path: scratch.path + "/none", home: nil), uid: getuid())
    #expect(configuration.watch != nil && configuration.read().definitions.isEmpty)
    #expect(configuration.watch?.hasEvents == false)
    mkdir(scratch.path + "/none", 0o700)
    #expect(configuration.watch?.hasEvents == true)
  }
}

extension ConfigurationWatch {
  fileprivate static func armed(_ folder: ConfigurationFolder) -> ConfigurationWatch? {
    let watch = ConfigurationWatch(folder: folder)
    watch?.arm()
    return watch
  }

  /// Whether something waits to be read.
  fileprivate var hasEvents: Bool {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(FIONREAD), &count) == 0 && count > 0
  }
}
