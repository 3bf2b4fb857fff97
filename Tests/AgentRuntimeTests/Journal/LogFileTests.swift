import Glibc
import Testing

@testable import AgentRuntime

@Suite("The log file")
struct LogFileTests {
  private let scratch: ScratchFolder
  private let file: LogFile

  init() throws {
    scratch = try ScratchFolder()
    file = LogFile(folder: scratch.path + "/state/oauthctl")
  }

  private var older: String { "\(file.folder)/\(LogFile.olderName)" }

  private func write(_ text: String) -> String? {
    let (count, problem) = file.write(Array(text.utf8))
    #expect(count == (problem == nil ? text.utf8.count : 0))
    return problem
  }

  private func text(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 2 * LogFile.greatestBytes)
    let count = read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  private func mode(_ path: String) -> UInt32? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  @Test(
    "A file makes room for a new one before it would grow beyond its bound; an empty one never",
    arguments: [
      (0, LogFile.greatestBytes + 1, false), (1, LogFile.greatestBytes - 1, false), (1, LogFile.greatestBytes, true),
      (LogFile.greatestBytes, 0, false), (LogFile.greatestBytes, 1, true),
    ])
  func bound(bytes: Int, more: Int, isFull: Bool) { #expect(LogFile.isFull(bytes: bytes, adding: more) == isFull) }

  @Test("Two files are kept, of at most 1 MiB each, and nobody else may look into them")
  func rotation() {
    let block = String(repeating: "x", count: (64 << 10) - 1) + "\n"
    for _ in 0..<16 { #expect(write(block) == nil) }
    #expect(mode(file.path) == 0o600 && mode(older) == nil && mode(file.folder) == 0o700)
    #expect(write("second\n") == nil)
    #expect(text(file.path) == "second\n" && text(older)?.utf8.count == LogFile.greatestBytes && mode(older) == 0o600)
    for _ in 0..<16 { #expect(write(block) == nil) }
    #expect(text(older)?.hasPrefix("second\n") == true && text(file.path) == block)
    #expect(mode(file.path) == 0o600)
  }

  @Test("A file that was taken away is made anew, and so is its folder")
  func removed() {
    #expect(write("one\n") == nil)
    unlink(file.path)
    #expect(write("two\n") == nil && text(file.path) == "two\n")
    rename(file.folder, scratch.path + "/away")
    #expect(write("three\n") == nil && text(file.path) == "three\n")
  }

  @Test("A file that others could read is closed to them; two agents write into the same")
  func sharing() {
    #expect(write("one\n") == nil)
    chmod(file.path, 0o644)
    #expect(LogFile(folder: file.folder).write(Array("two\n".utf8)).problem == nil)
    #expect(write("three\n") == nil)
    #expect(mode(file.path) == 0o600 && text(file.path) == "one\ntwo\nthree\n")
  }

  @Test("No link is followed, no pipe is waited for, no file with another name is written to")
  func planted() throws {
    #expect(write("one\n") == nil)
    let target = scratch.path + "/target"
    try scratch.write("target", "")
    chmod(target, 0o600)
    let plants: [() -> Int32] = [
      { symlink(target, file.path) }, { link(target, file.path) }, { mkfifo(file.path, 0o600) },
      { mkdir(file.path, 0o700) },
    ]
    for plant in plants {
      #expect(remove(file.path) == 0 && plant() == 0)
      #expect(write("two\n")?.contains(file.path) == true && text(target) == "")
    }
    #expect(remove(file.path) == 0)

    let moved = scratch.path + "/moved"
    #expect(rename(file.folder, moved) == 0 && symlink(moved, file.folder) == 0)
    #expect(write("two\n") != nil)
    #expect(unlink(file.folder) == 0 && rename(moved, file.folder) == 0 && write("two\n") == nil)
    chmod(file.folder, 0o777)
    #expect(write("three\n") == "\(file.folder) is not a folder that you alone can write to")
  }

  @Test("A line is the time, how grave it is, and what can be said, on one line")
  func line() throws {
    let text = LineOutput.line("info: x")
    #expect(try #/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ info: x\n/#.wholeMatch(in: text) != nil)
  }
}
