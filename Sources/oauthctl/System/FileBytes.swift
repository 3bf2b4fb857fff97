import AgentWire
import Glibc
import SystemFacts

/// Reading and writing descriptors whole, with interruptions taken care of.
enum FileBytes {
  /// Writes everything; false when the other end is gone or the disk is full.
  @discardableResult
  static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
  }

  @discardableResult
  static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
      if count > 0 {
        done += count
      } else if errno == EAGAIN {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&waiting, 1, -1)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }

  /// One `read`: nil at an error, empty at the end.
  static func readSome(from descriptor: Int32, limit: Int) -> [UInt8]? {
    var failed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      repeat { count = read(descriptor, buffer.baseAddress, limit) } while count < 0 && errno == EINTR
      if count < 0 {
        failed = true
        count = 0
      }
    }
    return failed ? nil : bytes
  }

  /// Everything up to the end; nil at an error or beyond `limit` bytes.
  static func readAll(from descriptor: Int32, limit: Int) -> [UInt8]? {
    var all: [UInt8] = []
    // All room is wiped when it is handed back, page by page, and most files are small.
    var room = 1 << 10
    while true {
      guard let some = readSome(from: descriptor, limit: room) else { return nil }
      if some.isEmpty { return all }
      all += some
      if some.count == room { room = min(room * 2, 64 << 10) }
      if all.count > limit { return nil }
    }
  }

  /// Everything up to the first blank line, or to the end; what came behind the blank line with it is left in. Nil at an
  /// error or beyond `limit` bytes.
  static func readToBlankLine(from descriptor: Int32, limit: Int) -> [UInt8]? {
    let lineFeed = UInt8(ascii: "\n")
    var all: [UInt8] = []
    while true {
      // Mostly a few hundred bytes come.
      guard let some = readSome(from: descriptor, limit: 2 << 10) else { return nil }
      if some.isEmpty { return all }
      let start = max(0, all.count - 1)
      all += some
      if all.count > limit { return nil }
      let new = all[start...]
      if all.first == lineFeed || zip(new, new.dropFirst()).contains(where: { $0 == lineFeed && $1 == lineFeed }) {
        return all
      }
    }
  }

  /// What is in a folder, by name; empty where it cannot be read.
  static func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// The bytes up to a line feed or the end, as text without CR and LF, byte by byte so that nothing behind the line
  /// is taken. Nil: nothing there, too long, not UTF-8, or the descriptor `end` was readable before the line's end.
  static func readLine(from descriptor: Int32, limit: Int, unless end: Int32? = nil) -> String? {
    var line: [UInt8] = []
    var sawAny = false
    while true {
      if let end, !waits(for: descriptor, unless: end) { return nil }
      guard let byte = readSome(from: descriptor, limit: 1)?.first else { break }
      sawAny = true
      if byte == UInt8(ascii: "\n") { break }
      line.append(byte)
      if line.count > limit { return nil }
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return sawAny ? String(validating: line, as: UTF8.self) : nil
  }

  /// Waits until `descriptor` has something to read, or its end. False: `end` has, whatever `descriptor` has.
  private static func waits(for descriptor: Int32, unless end: Int32) -> Bool {
    var both = [descriptor, end].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while poll(&both, nfds_t(both.count), -1) < 0 && errno == EINTR {}
    return both[1].revents == 0
  }

  /// A regular file's bytes; nil when it is not there, not regular or too long.
  static func contents(of path: String, limit: Int = 1 << 20) -> [UInt8]? {
    // A pipe would be waited for.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var about = stat()
    guard fstat(descriptor, &about) == 0, about.st_mode & S_IFMT == S_IFREG else { return nil }
    return readAll(from: descriptor, limit: limit)
  }

  /// The bytes of `path` without symbolic links; nil where there is nothing.
  static func place(of path: String) -> [UInt8]? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return Array(UnsafeRawBufferPointer(start: found, count: strlen(found)))
  }

  /// `path` without symbolic links; nil where there is nothing, or where that is no UTF-8: repaired, it would name another file.
  static func realPath(of path: String) -> String? { place(of: path).flatMap { String(validating: $0, as: UTF8.self) } }

  /// Where the symbolic links of `path` lead; `path` itself where there is nothing.
  private static func target(of path: String) -> String { realPath(of: path) ?? path }

  /// Whether two paths, or texts of files, are the same to the byte: Swift's equality takes other spellings of a letter for it.
  static func isSpelled(_ one: String?, _ other: String?) -> Bool {
    one.map { Array($0.utf8) } == other.map { Array($0.utf8) }
  }

  /// The file behind a symbolic link; nil where `path` is no link, or leads nowhere.
  static func linkTarget(of path: String) -> String? {
    var about = stat()
    guard lstat(path, &about) == 0, about.st_mode & S_IFMT == S_IFLNK else { return nil }
    return realPath(of: path)
  }

  /// What to do about a folder on a file system that is mounted read-only.
  static func writableAgain(_ folder: String) -> NextStep {
    .advice("make that file system writable again; findmnt -T \(ShellWord.quoted(folder)) shows which it is")
  }

  /// What lets user `user` write in a folder of `owner`'s (nil: not known), which failed by `code`; nil: nothing is known to.
  /// Nothing outside of his `home` is made his.
  static func writing(
    in folder: String, failed code: Int32, owner: UInt32?, user: UInt32, home: String? = Environment.live.home
  ) -> NextStep? {
    switch code {
    case EROFS: writableAgain(folder)
    case EACCES, EPERM:
      owner.map { owner in
        let word = ShellWord.quoted(folder)
        if owner == user { return .run("chmod u+rwx \(word)") }
        let isAtHome =
          home.map { folder.utf8.elementsEqual($0.utf8) || folder.utf8.starts(with: ($0 + "/").utf8) } ?? false
        return isAtHome ? .run(FileOwner.remedy(word, for: user)) : .advice("name a place in a folder of your own")
      }
    default: nil
    }
  }

  /// The same for the last failed call in this folder, or in the first above it that is there.
  static func writing(in folder: String, failed code: Int32) -> NextStep? {
    var (folder, found) = (folder, stat())
    if code == ENOENT, lstat(folder, &found) == 0, found.st_mode & S_IFMT == S_IFLNK {
      return .run("ls -l \(ShellWord.quoted(folder))   # the folder that this link leads to is missing")
    }
    while stat(folder, &found) != 0, folder != "/" { folder = Self.folder(of: folder) }
    return writing(in: folder, failed: code, owner: found.st_uid, user: geteuid())
  }

  /// Makes a folder and those above it, each 0700 where it is new, but none that another user could exchange.
  static func makeFolder(_ path: String) throws(CommandError) {
    try checkOwn(path)
    try makeMissing(path)
  }

  /// - Throws: `CommandError.configuration` where somebody else could put something else in the place of the folder at `path`.
  static func checkOwn(_ path: String) throws(CommandError) {
    let place =
      path.utf8.first == UInt8(ascii: "/") ? path : Self.place(of: ".").map { String(decoding: $0, as: UTF8.self) }
    guard let place, let fault = FolderTrust.files(of: geteuid()).fault(toMake: place) else { return }
    let elsewhere: NextStep =
      "name files and folders of your own by XDG_CONFIG_HOME, XDG_STATE_HOME and GIT_CONFIG_GLOBAL, or take these out"
    throw .configuration("\(fault.reason); nothing is written", next: fault.remedy.map { .run($0) } ?? elsewhere)
  }

  private static func makeMissing(_ path: String) throws(CommandError) {
    if PrivateCreation.makeFolder(path) == 0 || errno == EEXIST { return }
    let above = folder(of: path)
    if errno == ENOENT, path.contains("/"), above != path {
      try makeMissing(above)
      if PrivateCreation.makeFolder(path) == 0 || errno == EEXIST { return }
    }
    let code = errno
    throw .local("cannot create \(path): \(errorText(code))", next: writing(in: above, failed: code), status: 3)
  }

  /// The folders that `path` needs and that are not there, innermost first.
  static func missingFolders(above path: String) -> [String] {
    Array(
      sequence(first: folder(of: path)) { folder(of: $0) }.prefix { $0 != "/" && $0 != "." && access($0, F_OK) != 0 })
  }

  // Of bytes: a name that begins with an accent would make one character with the slash before it.

  /// The path of what a file lies in; of one without a slash `.`.
  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Whether two paths are the same place, whatever links lead there.
  static func isSamePlace(_ one: String, _ other: String) -> Bool {
    isSpelled(one, other) || isSpelled(target(of: one), target(of: other))
  }

  /// The last component of a path.
  static func name(of path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
  }

  /// The reason of the last failed call.
  static func errorText(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }
}
