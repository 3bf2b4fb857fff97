import AgentCore
import Glibc
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("Watching the configuration files")
struct ConfigurationWatchTests {
  @Test(
    "A file that is written, put in place or deleted is seen, and one of a folder that came later",
    .timeLimit(.minutes(10)))
  func changes() async throws {
    let scratch = try ScratchFolder()
    let folder = ConfigurationFolder(path: scratch.path, home: nil)
    let watch = ConfigurationWatch.armed(folder)
    let count = ChangeCount()
    #expect(!watch.hasUnreportedChange)
    // Before anybody listens, too.
    mkdir(folder.accountsFolder, 0o700)
    #expect(watch.hasUnreportedChange)
    await watch.listen(on: try ServingLoop.start()) { count.add() }
    await count.reaches(1)
    #expect(!watch.hasUnreportedChange)
    writeFile(folder.accountFile("work"), "x")
    await count.reaches(2)
    writeFile(scratch.path + "/new", "y")
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
    let watch = ConfigurationWatch.armed(folder)
    let count = ChangeCount()
    await watch.listen(on: try ServingLoop.start()) { count.add() }
    mkdir(scratch.path + "/other", 0o700)
    await count.reaches(1)
    rename(folder.accountsFolder, scratch.path + "/old")
    rename(scratch.path + "/other", folder.accountsFolder)
    await count.reaches(2)
    writeFile(folder.accountFile("work"), "x")
    await count.reaches(3)
  }

  @Test("The whole folder may be moved away, and back", .timeLimit(.minutes(10)))
  func moved() async throws {
    let scratch = try ScratchFolder()
    let folder = ConfigurationFolder(path: scratch.path + "/oauthctl", home: nil)
    mkdir(folder.path, 0o700)
    mkdir(folder.accountsFolder, 0o700)
    let watch = ConfigurationWatch.armed(folder)
    let count = ChangeCount()
    await watch.listen(on: try ServingLoop.start()) { count.add() }
    rename(folder.path, scratch.path + "/away")
    await count.reaches(1)
    rename(scratch.path + "/away", folder.path)
    await count.reaches(2)
  }

  @Test("A folder further up may be moved away, and another put in its place", .timeLimit(.minutes(10)))
  func movedAbove() async throws {
    let scratch = try ScratchFolder()
    let (above, other) = (scratch.path + "/config", scratch.path + "/other")
    let folder = ConfigurationFolder(path: above + "/oauthctl", home: nil)
    for path in [above, folder.path, folder.accountsFolder] { mkdir(path, 0o700) }
    for path in [other, other + "/oauthctl", other + "/oauthctl/accounts.d"] { mkdir(path, 0o700) }
    let watch = ConfigurationWatch.armed(folder)
    let count = ChangeCount()
    await watch.listen(on: try ServingLoop.start()) { count.add() }
    rename(above, scratch.path + "/away")
    rename(other, above)
    await count.reaches(1)
    writeFile(folder.accountFile("work"), "x")
    await count.reaches(2)
  }

  @Test("A change is told when it has been calm for a while, and at the latest when patience ends")
  func calm() async throws {
    let scratch = try ScratchFolder()
    let watch = ConfigurationWatch.armed(ConfigurationFolder(path: scratch.path, home: nil))
    let (loop, count) = (try TestLoop(), ChangeCount())
    // A folder that is still being looked at when it is calm is told once more: here that is done at once.
    await watch.listen(
      on: loop.loop,
      beside: { work in
        work()
        return true
      }
    ) { count.add() }
    func change(then span: LoopSpan) async {
      writeFile(scratch.path + "/config.toml", "x")
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
    let watch = ConfigurationWatch.armed(folder)
    let (loop, count, looks) = (try TestLoop(), ChangeCount(), ChangeCount())
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
    writeFile(folder.accountFile("work"), "x")
    await loop.turn()
    await loop.advance(ConfigurationWatch.calm)
    #expect(looks.count == 1 && count.count == 1 && !watch.hasEvents, "nobody has looked at the new folder yet")
  }

  private enum Hidden: CaseIterable { case behindALink, linkTurned, folderTurned }

  @Test("What changes behind a link is seen within seconds", arguments: Hidden.allCases)
  private func hidden(_ how: Hidden) async throws {
    let scratch = try ScratchFolder()
    let folder = ConfigurationFolder(path: scratch.path + "/oauthctl", home: nil)
    let (first, second) = (scratch.path + "/first", scratch.path + "/second")
    let file = folder.accountFile("work")
    if how == .folderTurned {
      mkdir(first, 0o700)
      symlink(first, folder.path)
    } else {
      mkdir(folder.path, 0o700)
    }
    mkdir(folder.accountsFolder, 0o700)
    writeFile(how == .folderTurned ? file : first, "x")
    switch how {
    case .behindALink: symlink(first, file)
    case .linkTurned:
      symlink(first, second)
      symlink(second, file)
    case .folderTurned: break
    }
    let places = HangingPlaces()
    let watch = ConfigurationWatch.armed(folder, by: places.reader)
    let (loop, count) = (try TestLoop(), ChangeCount())
    await watch.listen(on: loop.loop, beside: Self.atOnce) { count.add() }
    await looks(at: folder, places, loop)
    #expect(count.count == 1 && watch.mayMiss, "once, since nothing was looked at before")
    switch how {
    case .behindALink: writeFile(first, "more")
    case .linkTurned:
      unlink(second)
      writeFile(scratch.path + "/third", "x")
      symlink(scratch.path + "/third", second)
    case .folderTurned:
      mkdir(second, 0o700)
      unlink(folder.path)
      symlink(second, folder.path)
    }
    await looks(at: folder, places, loop)
    #expect(count.count == 2)
  }

  private static let atOnce: ConfigurationWatch.Runner = { work in
    work()
    return true
  }

  /// Lets seconds pass until a look has ended and what it saw was told.
  private func looks(at folder: ConfigurationFolder, _ places: HangingPlaces, _ loop: TestLoop) async {
    func looks() -> Int { places.entered.count { $0 == folder.settingsFile } }
    // The next begins once the one before has ended; one may be under way.
    let enough = looks() + 3
    while looks() < enough {
      await loop.advance(ConfigurationWatch.calm)
      await loop.turn()
      await Task.yield()
    }
  }

  @Test("A linked file that hangs hides no change of another one, and is no change itself", .timeLimit(.minutes(10)))
  func hiddenBesideAHang() async throws {
    let scratch = try ScratchFolder()
    let folder = ConfigurationFolder(path: scratch.path + "/oauthctl", home: nil)
    mkdir(folder.path, 0o700)
    mkdir(folder.accountsFolder, 0o700)
    for name in ["hangs", "works"] {
      writeFile(scratch.path + "/" + name, "x")
      symlink(scratch.path + "/" + name, folder.accountFile(name))
    }
    let places = HangingPlaces()
    let watch = ConfigurationWatch.armed(folder, by: places.reader)
    let (loop, count) = (try TestLoop(), ChangeCount())
    await watch.listen(on: loop.loop, beside: Self.atOnce) { count.add() }
    await looks(at: folder, places, loop)
    places.hang([folder.accountFile("hangs")])
    await looks(at: folder, places, loop)
    #expect(count.count == 1)
    writeFile(scratch.path + "/works", "more")
    await looks(at: folder, places, loop)
    #expect(count.count == 2)
    await places.release(folder.accountFile("hangs"))
    await looks(at: folder, places, loop)
    #expect(count.count == 2, "it is as it was")
  }

  @Test("Files of the folder itself need no looking at")
  func plain() throws {
    let scratch = try ScratchFolder()
    let folder = ConfigurationFolder(path: scratch.path, home: nil)
    mkdir(folder.accountsFolder, 0o700)
    writeFile(folder.accountFile("work"), "x")
    #expect(!ConfigurationWatch.armed(folder).mayMiss)
    let none = ConfigurationFolder(path: scratch.path + "/none", home: nil)
    #expect(!ConfigurationWatch.armed(none).mayMiss)
  }

  @Test("Reading the files is no change, and a folder that is not there no mistake")
  func reading() throws {
    let scratch = try ScratchFolder()
    let configuration = FileConfiguration(
      folder: ConfigurationFolder(path: scratch.path + "/none", home: nil), uid: getuid())
    #expect(configuration.read().definitions.isEmpty)
    #expect(configuration.watch.hasEvents == false)
    mkdir(scratch.path + "/none", 0o700)
    #expect(configuration.watch.hasEvents == true)
  }
}
