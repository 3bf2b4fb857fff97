import Glibc
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("A reading of files that may hang", .timeLimit(.minutes(10)))
struct PatientReaderTests {
  /// Touches `paths` and returns those that answered.
  private static func touch(_ paths: [String]) -> @Sendable (ReadingAttempt) -> [String] {
    { attempt in paths.filter { path in (try? attempt.at(path) { true }) == true } }
  }

  private static let both = touch(["/a", "/b"])

  @Test("A place that hangs is left out by all, costs one thread, and is read again when it answers")
  func hangs() async throws {
    let places = HangingPlaces("/a")
    let reader = places.reader
    for _ in 0..<3 { #expect(try await reader.read(Self.both).get() == ["/b"]) }
    #expect(places.entered == ["/a", "/b", "/b", "/b"] && reader.hanging == ["/a"])
    await places.release("/a")
    #expect(places.entered.count == 4, "the thread that comes back touches nothing more")
    #expect(try await reader.read(Self.both).get() == ["/a", "/b"])
  }

  @Test("Those who ask while it hangs wait for their turn, and lose no second thread")
  func together() async throws {
    let places = HangingPlaces("/a")
    let reader = places.reader
    let answers = await withTaskGroup(of: [String]?.self) { group in
      for _ in 0..<20 { group.addTask { try? await reader.read(Self.both).get() } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: ["/b"], count: 20))
    #expect(places.entered.count { $0 == "/a" } == 1)
    await places.release("/a")
  }

  @Test("What a step found after it was given up counts for nothing, a failure neither")
  func late() async throws {
    let places = HangingPlaces("/a")
    let reader = places.reader
    let found = Mutex<[TrustedFile.Failure?]>([])
    let read = await reader.read { attempt in
      do throws(TrustedFile.Failure) {
        try attempt.at("/a") { () throws(TrustedFile.Failure) in throw .missing }
        found.withLock { $0.append(nil) }
      } catch { found.withLock { $0.append(error) } }
    }
    #expect(throws: Never.self) { try read.get() }
    await places.release("/a")
    #expect(found.withLock { $0 } == [ReadingAttempt.hangs, ReadingAttempt.hangs])
  }

  @Test("Only so many threads hang; beyond that nothing is read until one of the places answers, and it is told")
  func bounded() async throws {
    let paths = (1...PatientReader.mostHanging + 1).map { "/\($0)" }
    let places = HangingPlaces()
    places.hang(paths)
    let reader = places.reader
    for _ in 0..<2 {
      let read = await reader.read(Self.touch(paths + ["/b"]))
      guard case .failure(.refused(let reason, let remedy)) = read else {
        Issue.record("read, though too many places hang")
        return
      }
      #expect(reason == "cannot be read in time: 4 places do not answer, /1 is one of them" && remedy != nil)
    }
    #expect(places.entered == Array(paths.prefix(4)), "the second is refused at once")
    await places.release("/2")
    await #expect(throws: TrustedFile.Failure.self) { try await reader.read(Self.touch(paths)).get() }
    #expect(reader.hanging == ["/1", "/3", "/4", "/5"])
    for path in reader.hanging { await places.release(path) }
    #expect(try await reader.read(Self.touch(paths)).get() == paths)
  }

  @Test("A file system that hangs costs one thread, however many of its files are asked for")
  func fileSystem() async throws {
    let drive = (1...PatientReader.mostHanging + 1).map { "/drive/\($0)" }
    let places = HangingPlaces("/drive/1") { $0.hasPrefix("/drive/") ? "/drive" : nil }
    let reader = places.reader
    for _ in 0..<2 { #expect(try await reader.read(Self.touch(drive + ["/b"])).get() == ["/b"]) }
    #expect(places.entered == ["/drive/1", "/b", "/b"] && reader.hanging == ["/drive"])
    await places.release("/drive/1", hangingAs: "/drive")
    #expect(try await reader.read(Self.touch(drive)).get() == drive)
  }

  @Test("One file of a file system that answers costs itself alone")
  func answers() async throws {
    let places = HangingPlaces("/drive/folder/1") { $0.hasPrefix("/drive/") ? "/drive" : nil }
    let reader = places.reader
    let read = await reader.read { attempt in
      try? attempt.reach("/drive/folder")
      return Self.touch(["/drive/folder/1", "/drive/folder/2"])(attempt)
    }
    #expect(try read.get() == ["/drive/folder/2"] && reader.hanging == ["/drive/folder/1"])
    await places.release("/drive/folder/1")
  }

  @Test("A reading that comes on is not given up, however long it takes")
  func slow() async throws {
    // Each step is looked at three times: seldom enough to be given up, and all together far more often than that.
    let steps = Mutex(0)
    let looks = Mutex(0)
    let reader = PatientReader(
      uid: getuid(),
      pause: {
        while looks.withLock({ $0 }) >= 3 * steps.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        looks.withLock { $0 += 1 }
      }, enters: { _ in steps.withLock { $0 += 1 } })
    let count = await reader.read { attempt in
      (0..<20).count { _ in
        let isDone = try? attempt.at("/a") {
          while looks.withLock({ $0 }) < 3 * steps.withLock({ $0 }) { usleep(100) }
          return true
        }
        return isDone == true
      }
    }
    #expect(try count.get() == 20 && reader.hanging.isEmpty)
  }
}
