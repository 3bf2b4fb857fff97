import Glibc
import Testing

@testable import AgentRuntime

@Suite("Watching single account files")
struct FileWatchesTests {
  @Test(
    "What is written by another name of a file is seen at once, also by one that it gets later",
    .timeLimit(.minutes(10)))
  func anotherName() async throws {
    let scratch = try ScratchFolder()
    let folder = ConfigurationFolder(path: scratch.path + "/oauthctl", home: nil)
    for path in [folder.path, folder.accountsFolder] { mkdir(path, 0o700) }
    let (first, second) = (scratch.path + "/first", scratch.path + "/second")
    writeFile(first, "x")
    link(first, folder.accountFile("work"))
    let watch = ConfigurationWatch.armed(folder)
    #expect(!watch.mayMiss)
    let count = ChangeCount()
    await watch.listen(on: try ServingLoop.start()) { count.add() }
    writeFile(first, "more")
    await count.reaches(1)
    link(first, second)
    await count.reaches(2)
    unlink(first)
    await count.reaches(3)
    writeFile(second, "other")
    await count.reaches(4)
  }

  @Test("A file that was replaced, and lives on by another name, is watched no longer")
  func replacedFile() throws {
    let scratch = try ScratchFolder()
    let folder = ConfigurationFolder(path: scratch.path + "/oauthctl", home: nil)
    for path in [folder.path, folder.accountsFolder] { mkdir(path, 0o700) }
    let (file, old) = (folder.accountFile("work"), scratch.path + "/old")
    writeFile(file, "x")
    let watch = ConfigurationWatch.armed(folder)
    rename(file, old)
    writeFile(file, "y")
    watch.arm()
    watch.forgetEvents()
    writeFile(old, "z")
    #expect(!watch.hasEvents)
    writeFile(file, "z")
    #expect(watch.hasEvents)
  }

  @Test("More files than are watched are looked at")
  func many() throws {
    let scratch = try ScratchFolder()
    let folder = ConfigurationFolder(path: scratch.path, home: nil)
    mkdir(folder.accountsFolder, 0o700)
    for number in 1...FileWatches.most { writeFile(folder.accountFile("n\(number)"), "x") }
    #expect(!ConfigurationWatch.armed(folder).mayMiss)
    writeFile(folder.accountFile("more"), "x")
    #expect(ConfigurationWatch.armed(folder).mayMiss)
  }
}
