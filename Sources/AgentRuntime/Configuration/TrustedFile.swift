import AgentWire
import Glibc
import SystemFacts

/// Reads a file that decides where secrets go: bounded, regular, ours or root's, and not writable by anybody else.
///
/// Symbolic links are followed, since dotfile managers make them; the rules are checked on what is open in the end.
enum TrustedFile {
  enum Failure: Error, Equatable {
    case missing
    /// Completes a sentence that begins with the file's name. `remedy`: what its owner can do about it.
    case refused(String, remedy: NextStep? = nil)
  }

  /// `isSecret`: nobody else may read it either.
  static func read(
    _ path: String, uid: UInt32, limitBytes: Int, isSecret: Bool = false
  ) throws(Failure) -> [UInt8] {
    var found = stat()
    // Before it is opened: to open a device may do something already.
    if stat(path, &found) == 0, found.st_mode & S_IFMT != S_IFREG { throw .refused("is not a regular file") }
    // Non-blocking: a FIFO that comes under that name now would hold us until somebody writes.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      throw unopened(path, isFolder: false, uid: uid)
    }
    defer { close(descriptor) }
    guard fstat(descriptor, &found) == 0 else { throw .refused("cannot be examined") }
    guard found.st_mode & S_IFMT == S_IFREG else { throw .refused("is not a regular file") }
    try check(found, descriptor, namedBy: path, uid: uid)
    // Groups of root's files are root's business.
    let others: mode_t = found.st_uid == uid ? 0o077 : 0o007
    guard !isSecret || found.st_mode & others == 0 else {
      throw .refused(
        "may be read by others (mode \(FileMode.digits(found.st_mode)))",
        remedy: closing(found, "chmod go-rwx", path, uid: uid))
    }
    guard found.st_size <= limitBytes else { throw .refused("is larger than \(limitBytes) bytes") }

    // What it says it has, and room to see that it has more.
    var bytes = [UInt8](repeating: 0, count: Int(found.st_size) + 1)
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        Glibc.read(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw .refused("cannot be read: \(String(cString: strerror(errno)))")
      }
      if count == 0 { break }
      filled += count
      guard filled <= limitBytes else { throw .refused("is larger than \(limitBytes) bytes") }
      if filled == bytes.count { bytes += [UInt8](repeating: 0, count: min(filled, limitBytes + 1 - filled)) }
    }
    bytes.removeLast(bytes.count - filled)
    return bytes
  }

  /// The names of a folder that is held to the same rules and that `isMeant` takes, sorted; empty when there is none. At
  /// most `limit`, and one more to tell that there are more. Of names at all, `looks` are looked at: a folder that has more
  /// is refused, since nobody knows what would be left out.
  static func names(
    in folder: String, uid: UInt32, limit: Int, looks: Int, isMeant: (String) -> Bool
  ) throws(Failure) -> [String] {
    guard let directory = opendir(folder) else {
      if errno == ENOENT { return [] }
      throw unopened(folder, isFolder: true, uid: uid)
    }
    defer { closedir(directory) }
    var found = stat()
    guard fstat(dirfd(directory), &found) == 0 else { throw .refused("cannot be examined") }
    try check(found, dirfd(directory), namedBy: folder, uid: uid)
    var names: [String] = []
    var looked = 0
    while names.count <= limit, let entry = readdir(directory) {
      looked += 1
      guard looked <= looks else { throw .refused("holds more than \(looks) files") }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
          String(cString: $0)
        }
      }
      if isMeant(name) { names.append(name) }
    }
    return names.sorted()
  }

  /// Why `path` could not be opened, by `errno`. Its user may have taken the right away from himself, there or of a folder on
  /// the way: then the first such place is told, with the command that opens it.
  private static func unopened(_ path: String, isFolder: Bool, uid: UInt32) -> Failure {
    let code = errno
    if code == ENOENT { return .missing }
    let reason = "cannot be opened: \(String(cString: strerror(code)))"
    guard code == EACCES else { return .refused(reason) }
    guard let closed = ClosedPath.place(closing: path, to: uid) else {
      var found = stat()
      return stat(path, &found) == 0 && found.st_uid != uid
        ? othersOwn(path, found.st_uid, uid: uid) : .refused(reason)
    }
    return .refused(closed.reason, remedy: .run(closed.remedy(isFolder: isFolder)))
  }

  /// Who may read a file of root's is not for its reader to change.
  private static func closing(_ found: stat, _ command: String, _ path: String, uid: UInt32) -> NextStep? {
    found.st_uid == uid ? .run("\(command) \(ShellWord.quoted(path))") : nil
  }

  /// Of what lies in the user's own folder it is known that it was meant to be his; not of what a link there leads to.
  private static func othersOwn(_ path: String, _ owner: UInt32, uid: UInt32) -> Failure {
    let isMeant = FolderTrust.live(folder(of: PathWalk.live(path)?.end ?? path))?.owner == uid
    return .refused(
      FileOwner.reason(owner), remedy: isMeant ? .run(FileOwner.remedy(ShellWord.quoted(path), for: uid)) : nil)
  }

  /// The rules for what is open, and for every folder on the way to it, from `/` down, links followed: whoever may write one
  /// of these can put something else in its place.
  private static func check(
    _ found: stat, _ descriptor: Int32, namedBy path: String, uid: UInt32
  ) throws(Failure) {
    guard found.st_uid == uid || found.st_uid == 0 || isRootsInNamespace(found, descriptor) else {
      throw othersOwn(path, found.st_uid, uid: uid)
    }
    guard found.st_mode & 0o022 == 0 else {
      throw .refused(
        "may be written by others (mode \(FileMode.digits(found.st_mode)))",
        remedy: closing(found, "chmod go-w", path, uid: uid))
    }
    // As named, and where what is open is: one of the two may have been changed in between.
    try checkWay(to: path, uid: uid)
    if let real = try self.path(of: descriptor), !real.utf8.elementsEqual(path.utf8) {
      try checkWay(to: real, uid: uid)
    }
  }

  private static func checkWay(to path: String, uid: UInt32) throws(Failure) {
    guard let way = PathWalk.live(path) else {
      throw .refused("is in a folder that is gone, behind too many links, or behind one to a name that is no UTF-8")
    }
    try check(way, folders: way.folders, last: folder(of: way.end), uid: uid)
  }

  /// The same rules for the way to what may not be there yet, as far as there is one.
  static func checkPlace(of path: String, uid: UInt32) throws(Failure) {
    try refuse(FolderTrust.files(of: uid).fault(toMake: path), uid: uid)
  }

  /// `last`: the folder that the file is in.
  private static func check(_ way: PathWalk, folders: [String], last: String?, uid: UInt32) throws(Failure) {
    try refuse(FolderTrust.files(of: uid).fault(on: way, folders: folders, last: last), uid: uid)
  }

  private static func refuse(_ fault: FolderTrust.WayFault?, uid: UInt32) throws(Failure) {
    switch fault {
    case nil: return
    case .folder(_, .noFolder), .link(_, owner: nil): throw .refused("is in a folder that is gone")
    case .folder(let folder, .owner(let owner)):
      throw .refused("is in \(folder), which belongs to another user (uid \(owner)): move it")
    case .folder(let folder, .mode(let mode)):
      let isOwn = FolderTrust.live(folder)?.owner == uid
      throw .refused(
        "is in \(folder), which may be written by others (mode \(FileMode.digits(mode)))",
        remedy: .run(FileMode.keepingOthersOut(of: ShellWord.quoted(folder), isOwn: isOwn)))
    case .link(let link, let owner?):
      throw .refused("is behind the link \(link) of another user (uid \(owner)): take another way")
    case .missing(let missing, let folder):
      throw .refused(
        "is to be in \(missing), which is not there: others may make it in \(folder)",
        remedy: .run("mkdir -m 700 \(ShellWord.quoted(missing))"))
    case .unclear: throw .refused("is behind too many links, or behind one to a name that is no UTF-8")
    }
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// Whether root owns it although we see another owner: in a user namespace that maps only us root and strangers look
  /// alike. Only root keeps files in the system's own folders.
  private static func isRootsInNamespace(_ found: stat, _ descriptor: Int32) -> Bool {
    var root = stat()
    guard stat("/", &root) == 0, root.st_uid != 0, found.st_uid == root.st_uid, let path = try? path(of: descriptor)
    else { return false }
    return FolderTrust.isSystems(path)
  }

  /// Where the open file is, links resolved; nil where the system does not tell.
  private static func path(of descriptor: Int32) throws(Failure) -> String? {
    switch SymbolicLink(at: "/proc/self/fd/\(descriptor)") {
    case .target(let path): return path
    case .notText: throw .refused("is in a folder whose name is no UTF-8")
    case .noLink, .unreadable: return nil
    }
  }
}
