import AgentCore
import AgentWire
import Foundation
import Glibc
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("How much configuration is read")
struct ConfigurationLimitsTests {
  private static let good = "issuer = \"https://id.example\"\nclient_id = \"abc\"\n"

  private func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

  private func error(_ text: String) -> TOMLDocument.SyntaxError? {
    do throws(TOMLDocument.SyntaxError) {
      _ = try TOMLKeyLines(text)
      return nil
    } catch { return error }
  }

  private static let parts = "the file has a key of more than 8 parts"
  private static let nested = "the file is nested deeper than 8"

  @Test(
    "What is beyond a limit is refused before the parser sees it, with its line",
    arguments: [
      ("\na.b.c.d.e.f.g.h = 1", nil, nil), ("\na.b.c.d.e.f.g.h.i = 1", 2, parts),
      ("[a.b.c.d.e.f.g.h.i]", 1, parts), ("[[a.b.c.d.e.f.g.h.i]]", 1, parts),
      (#""a"."b".'c'."d"."e"."f"."g"."h"."i" = 1"#, 1, parts), (#""a.b.c.d.e.f.g.h.i.j" = 1"#, nil, nil),
      ("x = {a.b.c.d.e.f.g.h.i = 1}", 1, parts), ("x = [1,\n{a = 1, a.b.c.d.e.f.g.h.i = 1}]", 2, parts),
      ("x = \"a.b.c.d.e.f.g.h.i.j\"", nil, nil), ("x = [1.5, 2.5, 3.5]\ny = 1979-05-27T07:32:00.5", nil, nil),
      ("# a.b.c.d.e.f.g.h.i.j = 1", nil, nil),
      ("x = [[[[[[[[1]]]]]]]]", nil, nil), ("x = [[[[[[[[[1]]]]]]]]]", 1, nested),
      ("x = {a={a={a={a={a={a={a={a={a=1}}}}}}}}}", 1, nested), ("x = \"[[[[[[[[[[\"", nil, nil),
      ("x = [\n#[[[[[[[[[[\n]", nil, nil), ("x = '''\n[[[[[[[[[[''''\ny = [[[[[[[[[1]]]]]]]]]", 3, nested),
      // An escaped quote does not end a key, nor a string.
      (#""\"" = [[[[[[[[[1]]]]]]]]]"#, 1, nested), (#""a\\" = [[[[[[[[[1]]]]]]]]]"#, 1, nested),
      (#"'a\' = [[[[[[[[[1]]]]]]]]]"#, 1, nested), (#"x = ["\"", [[[[[[[[[1]]]]]]]]]"#, 1, nested),
      (#"x = ['\', [[[[[[[[[1]]]]]]]]]"#, 1, nested), ("x = [\"\"\"\\\"\"\"\"\"\", [[[[[[[[[1]]]]]]]]]", 1, nested),
    ] as [(String, Int?, String?)])
  func shapes(_ text: String, _ line: Int?, _ reason: String?) {
    #expect(error(text) == reason.map { TOMLDocument.SyntaxError(line: line, reason: $0) })
  }

  @Test("Keys, values and lines are counted wherever they stand")
  func counts() {
    #expect(error(times(256, "a = 1\n")) == nil)
    #expect(error(times(257, "a = 1\n"))?.reason == "the file has more than 256 keys")
    #expect(
      error(times(257, "[[a]]\n")) == TOMLDocument.SyntaxError(line: 257, reason: "the file has more than 256 keys"))
    #expect(error("x = {" + times(256, "a = 1,") + "}")?.reason == "the file has more than 256 keys")
    #expect(error("x = [" + times(4_095, "1,") + "]") == nil)
    #expect(error("x = [" + times(4_096, "1,") + "]")?.reason == "the file has more than 4096 values")
    #expect(error(times(4_096, "\n")) == nil)
    #expect(error(times(4_097, "\n"))?.reason == "the file has more than 4096 lines")
  }

  @Test(
    "What another reader could take for the end of a line stands nowhere",
    arguments: ["a = 1\rb = 2", "# a\r[b]", "a = 1\u{0C}", "a = \"\u{01}\"", "# \u{7F}", "a = 1\r", "a = '''\r'''"])
  func controls(_ text: String) {
    #expect(error(text)?.reason.hasPrefix("not TOML: a ") == true)
    #expect(
      error(
        text.replacing("\r", with: "\r\n").replacing("\u{0C}", with: "").replacing("\u{01}", with: "").replacing(
          "\u{7F}", with: "")) == nil
    )
  }

  @Test("No text makes the reader trap or stand still")
  func random() {
    var random = SystemRandomNumberGenerator()
    let alphabet = Array("[]{}=.,#'\"\\\n ab1")
    for _ in 0..<4_000 {
      let text = String(
        (0..<Int.random(in: 0...60, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) })
      _ = error(text)
    }
  }

  @Test("Of one file ten problems are told, by their lines, and how many more there are")
  func problemsOfAFile() throws {
    let scratch = try ScratchFolder()
    mkdir(scratch.path + "/accounts.d", 0o700)
    let configuration = FileConfiguration(folder: ConfigurationFolder(path: scratch.path, home: nil), uid: getuid())
    let keys = (0..<200).map { "zz\(200 - $0) = 1\n" }.joined()
    try scratch.write("accounts.d/a.toml", Self.good + "scope = 1\n" + keys)
    try scratch.write("config.toml", keys)
    let found = configuration.read()
    #expect(found.definitions.isEmpty)
    let ofAgent = found.problems.filter { $0.file.hasSuffix("/config.toml") }
    #expect(ofAgent.dropLast().map(\.line) == Array(1...10))
    #expect(ofAgent.last?.reason == "and 190 more problems in this file")
    let ofAccount = found.problems.filter { $0.file.hasSuffix("/a.toml") }
    #expect(ofAccount.dropLast().map(\.line) == Array(3...12))
    #expect(ofAccount.last?.reason == "and 191 more problems in this file")
    #expect(ofAccount.filter { $0.reason.contains("lists them") }.count == 1)
  }

  @Test("Of all files a thousand problems are kept, and past them one of each file")
  func problemsOfAll() {
    var reading = FolderReading(settingsProblems: [], folders: AccountFolders(read: "/c/accounts.d"))
    func problems(_ file: Int) -> [ConfigurationProblem] {
      (1...11).map { ConfigurationProblem(file: "/c/accounts.d/\(file).toml", line: $0, key: nil, reason: "bad") }
    }
    for file in 0..<10_000 { reading.add(.failure(ConfigurationProblems(problems(file))), bytes: 10) }
    #expect(Set(reading.configuration.problems.map(\.file)).count == 10_000)
    #expect(reading.configuration.problems.count < 11_000)
  }

  @Test("Of all files 32 MiB are read")
  func bytes() {
    var reading = FolderReading(settingsProblems: [], folders: AccountFolders(read: "/c/accounts.d"))
    var files = 0
    while reading.hasRoom {
      reading.add(.failure(ConfigurationProblems([])), bytes: 64 << 10)
      files += 1
    }
    #expect(files == 512)
  }

  @Test("Files that are not meant take no place of those that are; a folder with too many of them is refused")
  func names() throws {
    let scratch = try ScratchFolder()
    for number in 0..<30 { try scratch.write("junk\(number)", "") }
    try scratch.write("a.toml", "")
    try scratch.write("b.toml", "")
    func names(limit: Int, looks: Int) throws -> [String] {
      try TrustedFile.names(in: scratch.path, uid: getuid(), limit: limit, looks: looks) { $0.hasSuffix(".toml") }
    }
    #expect(try names(limit: 5, looks: 40) == ["a.toml", "b.toml"])
    #expect(try names(limit: 1, looks: 40).count == 2)
    #expect(throws: TrustedFile.Failure.refused("holds more than 20 files")) { try names(limit: 5, looks: 20) }
  }

  @Test("An authority that many accounts name is read once, and all of them have a limit")
  func certificates() throws {
    let scratch = try ScratchFolder()
    try scratch.write("ca.pem", "one")
    var certificates = Certificates(
      files: ReadingAttempt(uid: getuid()), settingsFile: scratch.path + "/config.toml")
    func digested(_ file: String) -> Result<AccountDefinition, ConfigurationProblems> {
      var definition = AccountDefinition(name: "a", issuer: "https://id.example", clientID: "abc")
      definition.certificateAuthorityFile = scratch.path + "/" + file
      return certificates.digested(definition, common: nil) { _ in 3 }
    }
    let first = try digested("ca.pem").get()
    try scratch.write("ca.pem", "two")
    #expect(try digested("ca.pem").get() == first)
    for number in 0..<15 {
      try scratch.write("big\(number).pem", times(4 << 20, "x"))
      #expect(throws: Never.self) { try digested("big\(number).pem").get() }
    }
    try scratch.write("last.pem", "x")
    guard case .failure(let failure) = digested("last.pem") else {
      Issue.record("read")
      return
    }
    #expect(failure.problems.first?.reason.contains("more than 67108864 bytes") == true)
    #expect(failure.problems.first?.line == 3)
  }

  @Test("A file that grows while it is read is read whole or refused")
  func sizes() throws {
    let scratch = try ScratchFolder()
    for size in [0, 1, 99, 100] {
      try scratch.write("a", times(size, "x"))
      #expect(try TrustedFile.read(scratch.path + "/a", uid: getuid(), limitBytes: 100).count == size)
    }
    try scratch.write("a", times(101, "x"))
    #expect(throws: TrustedFile.Failure.refused("is larger than 100 bytes")) {
      try TrustedFile.read(scratch.path + "/a", uid: getuid(), limitBytes: 100)
    }
  }

  @Test("A reading does not run on its caller's thread")
  func elsewhere() async throws {
    let scratch = try ScratchFolder()
    mkdir(scratch.path + "/accounts.d", 0o700)
    try scratch.write("accounts.d/a.toml", Self.good)
    let thread = Mutex("")
    let configuration = FileConfiguration(folder: ConfigurationFolder(path: scratch.path, home: nil), uid: getuid()) {
      _ in
      let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
      thread.withLock { $0 = name ?? "" }
    }
    #expect(await configuration.load().definitions.map(\.name) == ["a"])
    #expect(thread.withLock { $0 } == "configuration\n")
    #expect(throws: Never.self) { try configuration.readDefinition(name: "a", text: nil).get() }
    let checked = await configuration.definition(name: "a", text: Self.good)
    #expect(throws: Never.self) { try checked.get() }
  }
}
