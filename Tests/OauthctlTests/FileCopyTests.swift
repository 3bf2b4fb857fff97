import FoundationEssentials
import Glibc
import Testing

@testable import oauthctl

@Suite("Files that are taken from the agent or given to it")
struct FileCopyTests {
  let source: String
  let target: String

  init() throws {
    var template = Array("/tmp/copy-test.XXXXXX".utf8CString)
    let root = try #require(mkdtemp(&template).map { String(cString: $0) })
    (source, target) = (root + "/source", root + "/target")
    try Data(repeating: 1, count: 1_000).write(to: URL(filePath: source))
  }

  private func end() { try? FileManager.default.removeItem(atPath: FileBytes.folder(of: source)) }

  @Test("A backup of another size than the agent told is none, and does not stay", arguments: [0, 999, 1_001])
  func size(told: Int) {
    defer { end() }
    #expect(throws: CommandError.self) { try FileBytes.move(source, to: target, byteCount: told) }
    #expect(access(source, F_OK) != 0 && access(target, F_OK) != 0)
  }

  @Test("A whole one is taken away")
  func whole() throws {
    defer { end() }
    let written = try FileBytes.move(source, to: target, byteCount: 1_000)
    defer { close(written) }
    #expect(access(source, F_OK) != 0)
    #expect(FileManager.default.contents(atPath: target)?.count == 1_000)
    #expect(FileBytes.leads(target, to: written) && !FileBytes.leads(target + "x", to: written))
  }

  @Test("A file that is larger than may be is not copied")
  func limit() throws {
    defer { end() }
    #expect(throws: CommandError.self) { try FileBytes.copy(source, to: target, limit: 999) }
    #expect(access(target, F_OK) != 0)
    close(try FileBytes.copy(source, to: target, limit: 1_000))
    #expect(FileManager.default.contents(atPath: target)?.count == 1_000)
  }
}
