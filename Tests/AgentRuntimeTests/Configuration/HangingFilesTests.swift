import AgentWire
import Glibc
import Synchronization
import Testing

@testable import AgentCore
@testable import AgentRuntime

@Suite("Configuration files on a file system that hangs", .timeLimit(.minutes(10)))
struct HangingFilesTests {
  private static let hangs = "does not answer: its file system may hang"
  private let scratch: ScratchFolder
  private let places = HangingPlaces()
  private let configuration: FileConfiguration
  private let good = "issuer = \"https://id.example\"\nclient_id = \"abc\"\n"

  init() throws {
    scratch = try ScratchFolder()
    mkdir(scratch.path + "/accounts.d", 0o700)
    mkdir(scratch.path + "/providers.d", 0o700)
    configuration = FileConfiguration(
      folder: ConfigurationFolder(path: scratch.path, home: scratch.path), reader: places.reader)
    try scratch.write("accounts.d/a.toml", good)
    try scratch.write("accounts.d/b.toml", good)
  }

  private func path(_ name: String) -> String { name.isEmpty ? scratch.path : scratch.path + "/" + name }

  private func hang(_ name: String) { places.hang([path(name)]) }

  private func release(_ name: String) async { await places.release(path(name)) }

  @Test("An account's file costs that account alone, and it comes back with the next reading")
  func accountFile() async {
    hang("accounts.d/a.toml")
    for _ in 0..<2 {
      let found = await configuration.load()
      #expect(found.definitions.map(\.name) == ["b"])
      #expect(found.problems.map(\.file) == [scratch.path + "/accounts.d/a.toml"])
      #expect(found.problems.map(\.reason) == ["the file " + Self.hangs] && found.problems.first?.hint != nil)
      #expect(FileProblems(found.problems).mayBeMended, "whoever asks next looks again")
    }
    await release("accounts.d/a.toml")
    #expect(await configuration.load().definitions.map(\.name) == ["a", "b"])
  }

  @Test("So does its private authority, by its line, for a login as well")
  func authority() async throws {
    try scratch.write("ca.pem", "one")
    let text = good + "ca_file = \"~/ca.pem\"\n"
    try scratch.write("accounts.d/a.toml", text)
    hang("ca.pem")
    let found = await configuration.load()
    #expect(found.definitions.map(\.name) == ["b"])
    #expect(found.problems.map(\.line) == [3] && found.problems.map(\.key) == ["ca_file"])
    #expect(found.problems.map(\.reason) == ["\(scratch.path)/ca.pem \(Self.hangs)"])
    let checked = await configuration.definition(name: "c", text: text)
    guard case .failure(let failure) = checked else {
      Issue.record("accepted")
      return
    }
    #expect(failure.problems.map(\.key) == ["ca_file"])
    let other = await configuration.definition(name: "c", text: good)
    #expect(throws: Never.self) { try other.get() }
    await release("ca.pem")
    #expect(await configuration.load().definitions.map(\.name) == ["a", "b"])
  }

  @Test("A folder that hangs is told as such, so that its accounts stay as they were")
  func folder() async {
    hang("accounts.d")
    let found = await configuration.load()
    #expect(found.definitions.isEmpty && found.folders?.gone == nil)
    #expect(found.problems.map(\.file) == [scratch.path + "/accounts.d"])
    #expect(found.problems.map(\.reason) == ["the folder " + Self.hangs])
    #expect(FileProblems(found.problems).concern(scratch.path + "/accounts.d/a.toml"))
    await release("accounts.d")
    #expect(await configuration.load().definitions.count == 2)
  }

  @Test("A folder whose files all hang costs one thread: that of the configuration, and that of many authorities")
  func folders() async throws {
    hang("")
    let found = await configuration.load()
    #expect(found.problems.map(\.file) == ["config.toml", "accounts.d"].map { scratch.path + "/" + $0 })
    #expect(configuration.reader.hanging == [scratch.path])
    await release("")
    mkdir(scratch.path + "/drive", 0o700)
    for name in ["a", "b", "c", "d", "e"] {
      try scratch.write("drive/\(name).pem", name)
      try scratch.write("accounts.d/\(name).toml", good + "ca_file = \"~/drive/\(name).pem\"\n")
    }
    try scratch.write("accounts.d/f.toml", good)
    hang("drive")
    let others = await configuration.load()
    #expect(others.definitions.map(\.name) == ["f"])
    #expect(
      others.problems.map(\.reason).allSatisfy { $0.hasSuffix(".pem \(Self.hangs)") } && others.problems.count == 5)
    #expect(configuration.reader.hanging == [scratch.path + "/drive"])
    await release("drive")
    #expect(await configuration.load().problems.isEmpty)
  }

  @Test("Settings that hang keep what holds, and a thread that comes back changes nothing")
  func settings() async throws {
    let count = Atomic<Int>(0)
    let configuration = FileConfiguration(folder: configuration.folder, reader: places.reader) { _ in
      count.add(1, ordering: .relaxed)
    }
    try scratch.write("config.toml", "allow_network_home = true\n")
    #expect(await configuration.begin().allowsNetworkHome)
    hang("config.toml")
    let found = await configuration.load()
    #expect(found.definitions.count == 2 && configuration.current.allowsNetworkHome)
    #expect(found.problems.map(\.reason) == ["the file " + Self.hangs])
    #expect(await configuration.begin().allowsNetworkHome)
    await release("config.toml")
    #expect(count.load(ordering: .relaxed) == 1)
    #expect(await configuration.load().problems.isEmpty && count.load(ordering: .relaxed) == 2)
  }

  @Test("Where too many files hang the folder as a whole is told")
  func tooMany() async throws {
    for name in ["c", "d", "e"] { try scratch.write("accounts.d/\(name).toml", good) }
    let names = ["a", "b", "c", "d"].map { "accounts.d/\($0).toml" }
    for name in names { hang(name) }
    let found = await configuration.load()
    #expect(found.definitions.isEmpty && found.problems.map(\.file) == [scratch.path])
    #expect(FileProblems(found.problems).concern(scratch.path + "/accounts.d/e.toml"))
    for name in names { await release(name) }
    #expect(await configuration.load().definitions.count == 5)
  }

  @Test("A preset that is a link to what hangs costs itself alone, also on the file system of all accounts")
  func linkedPreset() async throws {
    let places = HangingPlaces { _ in "/tmp" }
    let reader = places.reader
    let configuration = FileConfiguration(folder: configuration.folder, reader: reader)
    places.hang([path("providers.d/ours.toml")])
    await #expect(throws: AgentFailure.self) {
      try await configuration.provider(ProviderShow(provider: "ours", values: nil))
    }
    #expect(reader.hanging == [path("providers.d/ours.toml")])
    #expect(await configuration.load().definitions.map(\.name) == ["a", "b"])
    await places.release(path("providers.d/ours.toml"))
  }

  @Test("A preset costs itself alone, too")
  func preset() async {
    hang("providers.d/ours.toml")
    await #expect(throws: AgentFailure.self) {
      try await configuration.provider(ProviderShow(provider: "ours", values: nil))
    }
    #expect(await configuration.providers().problems.isEmpty, "it is not there")
    hang("providers.d")
    let listed = await configuration.providers()
    // Whether one of the user's own stands before a preset of the program, nobody can tell.
    #expect(listed.problems.first?.reason == "the folder " + Self.hangs && listed.providers.isEmpty)
    for name in ["providers.d/ours.toml", "providers.d"] { await release(name) }
  }
}
