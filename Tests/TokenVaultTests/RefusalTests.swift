import Glibc
import Sealing
import Testing

@testable import TokenVault

@Suite("The vault refuses")
struct RefusalTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// A vault with two records, closed.
  private func filled() async throws -> [Held] {
    let vault = scratch.vault()
    try await vault.put(.sample(1))
    try await vault.put(.sample(2))
    let held = try await vault.held()
    await vault.close()
    return held
  }

  @Test("A second vault on the folder is told who holds it, and may open once the first has closed")
  func secondVault() async throws {
    let held = try await filled()
    let first = scratch.vault()
    #expect(try await first.held() == held)
    let second = scratch.vault()
    let inUse = VaultError.inUse(pid: getpid(), socket: "\(scratch.path)/agent.sock")
    await #expect(throws: inUse) { try await second.loadAll() }
    await #expect(throws: inUse) { try await second.put(.sample(3)) }
    #expect(await second.status().state == .failed(inUse))
    await first.close()
    #expect(try await second.held() == held)
  }

  @Test("The lock file's text is read as far as it goes")
  func lockText() {
    let holder = VaultLock.Holder(bootID: "b", pid: 42, socket: "/a b/c.sock")
    #expect(VaultLock.Holder(holder.encoded()) == holder)
    for text in ["", "pid", "pid x\nsocket", "pid -1", "pid 99999999999", "\u{0}\n\n\n"] {
      #expect(VaultLock.Holder(Array(text.utf8)).pid == 0)
    }
    #expect(VaultLock.Holder([0xff, 0xfe, 0x0a] + Array("pid 7\n".utf8)).pid == 7)
  }

  @Test("Of a holder before, the lock file keeps nothing", arguments: ["/a", "/longer/a.sock"])
  func lockTextAgain(socket: String) throws {
    let path = scratch.path + "/" + VaultLocation.lockName
    guard let directory = try PrivateDirectory.open(scratch.path, isSecret: true) else { return #expect(Bool(false)) }
    for socket in ["/longer", socket] {
      let lock = try VaultLock(in: directory, path: path, socketPath: socket)
      let text = try scratch.read(path)
      #expect(text == VaultLock.Holder(text).encoded() && VaultLock.Holder(text).socket == socket)
      _ = lock
    }
  }

  @Test("Without its key file a vault is keyMissing, and no put makes a new one")
  func keyMissing() async throws {
    let held = try await filled()
    let location = scratch.location
    let database = try scratch.read(location.databaseFile)
    #expect(rename(location.keyFile, location.keyFile + ".away") == 0)
    let vault = scratch.vault()
    let missing = VaultError.keyMissing(path: location.keyFile)
    await #expect(throws: missing) { try await vault.loadAll() }
    await #expect(throws: missing) { try await vault.put(.sample(3)) }
    await #expect(throws: missing) { try await vault.create() }
    #expect(await vault.status().state == .failed(missing))
    #expect(access(location.keyFile, F_OK) != 0, "no new key is made")
    #expect(try scratch.read(location.databaseFile) == database)
    #expect(rename(location.keyFile + ".away", location.keyFile) == 0)
    #expect(try await vault.held() == held)
  }

  @Test("Another vault's key file does not open it")
  func foreignKey() async throws {
    _ = try await filled()
    let other = try Scratch()
    _ = try await other.vault().create()
    try scratch.write(try other.read(other.location.keyFile), to: scratch.location.keyFile)
    let error = await #expect(throws: VaultError.self) { try await scratch.vault().loadAll() }
    guard case .damaged(_, let what) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(what.contains("slot 1") && what.contains(scratch.location.keyFile))
  }

  @Test(
    "A database, key file or folder of another user is refused, and says whose it is",
    .enabled(if: geteuid() == 0, "needs root, who can give files away"))
  func othersOwn() async throws {
    _ = try await filled()
    let location = scratch.location
    for path in [location.databaseFile, location.keyFile, location.directory] {
      #expect(chown(path, 4_711, gid_t.max) == 0)
      await #expect(throws: VaultError.othersOwn(path: path, owner: 4_711, user: 0)) {
        try await scratch.vault().loadAll()
      }
      #expect(chown(path, 0, gid_t.max) == 0)
    }
    _ = try await scratch.vault().loadAll()
  }

  enum Meddling: CaseIterable {
    case readableByOthers, writableByGroup, hardLinked, linked, fifo, folderWritable
  }

  @Test("A key file that others could read, swap or redirect is refused with the fix", arguments: Meddling.allCases)
  func unsafeKeyFile(meddling: Meddling) async throws {
    _ = try await filled()
    let key = scratch.location.keyFile
    let folder = PrivateDirectory.parent(of: key)
    let done: Int32 =
      switch meddling {
      case .readableByOthers: chmod(key, 0o644)
      case .writableByGroup: chmod(key, 0o620)
      case .hardLinked: link(key, key + ".other")
      case .linked: rename(key, key + ".real") == 0 ? symlink(key + ".real", key) : -1
      case .fifo: unlink(key) == 0 ? mkfifo(key, 0o600) : -1
      case .folderWritable: chmod(folder, 0o777)
      }
    #expect(done == 0)
    let error = await #expect(throws: VaultError.self) { try await scratch.vault().loadAll() }
    let path: String
    switch error {
    case .unsafePermissions(let found, let fix):
      path = found
      #expect(!fix.isEmpty)
    case .openToOthers(let found, let mode):
      path = found
      #expect(mode == (meddling == .folderWritable ? "go-w" : "600"))
    default:
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path == (meddling == .folderWritable ? folder : key))
  }

  @Test(
    "A database, log or folder that others could read or swap is refused",
    arguments: ["database", "log", "folder", "linked folder", "linked database", "linked lock"])
  func unsafeVault(what: String) async throws {
    _ = try await filled()
    let location = scratch.location
    switch what {
    case "database": #expect(chmod(location.databaseFile, 0o640) == 0)
    case "log":
      try scratch.write([1], to: location.databaseFile + "-wal")
      #expect(chmod(location.databaseFile + "-wal", 0o644) == 0)
    case "folder": #expect(chmod(location.directory, 0o750) == 0)
    case "linked folder":
      #expect(rename(location.directory, location.directory + ".real") == 0)
      #expect(symlink(location.directory + ".real", location.directory) == 0)
    case "linked database":
      #expect(rename(location.databaseFile, location.databaseFile + ".real") == 0)
      #expect(symlink(location.databaseFile + ".real", location.databaseFile) == 0)
    default:
      #expect(unlink(location.directory + "/vault.lock") == 0)
      #expect(symlink("/dev/null", location.directory + "/vault.lock") == 0)
    }
    let error = await #expect(throws: VaultError.self) { try await scratch.vault().loadAll() }
    switch error {
    case .unsafePermissions, .openToOthers: break
    default: Issue.record("\(String(describing: error))")
    }
  }

  @Test("A folder that is open to others is refused with the mode that closes it")
  func openFolder() throws {
    let folder = scratch.path + "/my data"
    #expect(mkdir(folder, 0o755) == 0)
    #expect(throws: VaultError.openToOthers(path: folder, chmod: "700")) {
      _ = try PrivateDirectory.open(folder, isSecret: true) != nil
    }
  }

  @Test("Relative paths are refused")
  func relativePaths() async {
    let vault = Vault(
      location: VaultLocation(directory: "data", keyFile: "/k", counterFile: "/c"), socketPathForLock: "")
    await #expect(throws: VaultError.self) { try await vault.put(.sample(1)) }
  }

  @Test("A database of a later format says so; one marked so in one place only is damaged")
  func laterFormat() async throws {
    _ = try await filled()
    let path = scratch.location.databaseFile
    func edit(_ statements: [String]) throws {
      let connection = try SQLiteConnection(path: path)
      for statement in statements { try connection.run(statement) }
    }
    try edit(["PRAGMA user_version=2"])
    let half = await #expect(throws: VaultError.self) { try await scratch.vault().loadAll() }
    #expect(half == .damaged(what: "database: its format number"))
    try edit(["UPDATE meta SET value = x'02000000' WHERE name = 'format'"])
    await #expect(throws: VaultError.wrongFormat(found: 2, supported: 1)) { try await scratch.vault().loadAll() }
  }
}
