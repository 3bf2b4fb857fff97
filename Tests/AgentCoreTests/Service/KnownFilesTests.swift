import AgentWire
import Testing

@testable import AgentCore

@Suite("What is known of the files")
struct KnownFilesTests {
  private static let problem = ConfigurationProblem(
    file: "/c/accounts.d/work.toml", line: nil, key: nil, reason: "no issuer")
  private static let read = Configuration(
    definitions: [.plain], problems: [problem], folders: AccountFolders(read: "/c/accounts.d"))

  @Test("problems are news when they are others than before")
  func problems() {
    var files = KnownFiles()
    let (first, second) = (files.take(Self.read, isServing: true), files.take(Self.read, isServing: false))
    #expect(first && !second)
    #expect(files.take(Configuration(definitions: [], problems: []), isServing: true) == true)
    #expect(files.problems.all.isEmpty)
  }

  @Test("what is read while the vault is shut is counted, and taken over by nobody")
  func shut() {
    var files = KnownFiles()
    _ = files.take(Self.read, isServing: false)
    #expect(files.folders == nil && files.lockedCount == 1)
    _ = files.take(Self.read, isServing: true)
    #expect(files.folders?.read == "/c/accounts.d")
  }

  @Test("who comes while a reading is under way shares the next")
  func readings() async {
    var readings = FileReadings()
    let first = readings.join { Self.read }
    #expect(readings.join { Self.read } == first, "it has not begun")
    readings.begin()
    let next = readings.join { Self.read }
    #expect(next != first && readings.join { Self.read } == next)
    readings.end()
    #expect(readings.next == next)
    #expect(await next.value.problems.count == 1)
    readings.begin()
    #expect(readings.next == nil)
  }

  @Test("the next reading begins when the one before it has ended")
  func order() async {
    var readings = FileReadings()
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    _ = readings.join {
      for await _ in ends {}
      return Configuration(definitions: [], problems: [])
    }
    readings.begin()
    let next = readings.join { Self.read }
    end.finish()
    #expect(await next.value.definitions.count == 1)
  }

  @Test("a thousand accounts whose authority differs cost one reading in five seconds")
  func authority() {
    var readings = FileReadings()
    let begun = [100, 100, 104.9, 105, 109, 111].map { readings.beginsForAuthority(at: $0) }
    #expect(begun == [true, false, false, true, false, true])
  }

  @Test("a list for a shut vault is good for ten times as long as it took, and for one reason")
  func lockedList() {
    let list = LockedList([], reason: "locked", began: 100, ended: 100.5)
    #expect(list.isGood(for: "locked", at: 105.4) && !list.isGood(for: "locked", at: 105.5))
    #expect(!list.isGood(for: "the key file is gone", at: 101))
  }
}
