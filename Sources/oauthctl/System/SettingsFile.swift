import AgentWire
import Glibc

/// A file that people write and this program changes: an account's, or one of another program's settings. A change takes the
/// place of the file as it was read, and nothing else.
struct SettingsFile: Sendable {
  let path: String

  init(path: String) { self.path = path }

  /// The text there is; nil when there is no such file.
  var text: String? {
    FileBytes.contents(of: path).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Also a link that leads nowhere just now: what it leads to may be on a disk that is not there.
  var exists: Bool {
    var about = stat()
    return lstat(path, &about) == 0
  }

  /// The file that is written where `path` is a symbolic link to it.
  var linkTarget: String? { FileBytes.linkTarget(of: path) }

  /// The path as a person reads it, with the file behind a link.
  func name(in environment: Environment) -> String {
    let target = linkTarget.map { " (a link to \(environment.abbreviated($0)))" } ?? ""
    return environment.abbreviated(path) + target
  }

  /// What this program has written or read, and which file that is: a person who edits it makes another, or changes its bytes.
  struct Written: Sendable, Equatable {
    fileprivate let text: [UInt8]
    fileprivate let device: UInt
    fileprivate let inode: UInt

    var bytes: [UInt8] { text }
    var content: String { String(decoding: text, as: UTF8.self) }
  }

  /// Writes to `target`, the `linkTarget` that was looked at: a link that was made or turned since is not followed.
  ///
  /// - Returns: nil where somebody has replaced or removed it since.
  /// - Throws: `CommandError`, also where `isMeant` says, at the last moment, that what is there is not to be replaced.
  @discardableResult
  func write(
    _ text: String, behind target: String? = nil, while isMeant: () -> Bool = { true }
  ) throws(CommandError) -> Written? {
    try write(Array(text.utf8), behind: target, while: isMeant)
  }

  /// Writes only where `state` is still there.
  ///
  /// - Returns: false where it is not: nothing is written.
  func write(_ text: String, inPlaceOf state: State) throws(CommandError) -> Bool {
    try FileBytes.makeFolder(FileBytes.folder(of: path))
    return try FileBytes.replace(
      state.linkTarget ?? path, with: Array(text.utf8), readAt: path, while: { self.state == state })
  }

  /// Puts back what was there, byte for byte.
  func write(_ old: Written, behind target: String?, while isMeant: () -> Bool) throws(CommandError) {
    try write(old.text, behind: target, while: isMeant)
  }

  @discardableResult
  private func write(
    _ bytes: [UInt8], behind target: String?, while isMeant: () -> Bool
  ) throws(CommandError) -> Written? {
    try FileBytes.makeFolder(FileBytes.folder(of: path))
    guard try FileBytes.replace(target ?? path, with: bytes, readAt: path, while: isMeant) else {
      throw .configuration("\(path) was changed meanwhile; nothing is written", next: "run the command again")
    }
    return current.flatMap { $0.text == bytes ? $0 : nil }
  }

  /// Puts back what was there before `written`: removes it where nothing was.
  ///
  /// - Returns: false where it is another file by now, which stays.
  func putBack(_ old: State, insteadOf written: Written?) throws(CommandError) -> Bool {
    guard let written, isStill(written) else { return false }
    if let before = old.content {
      try write(before, behind: old.linkTarget, while: { isStill(written) })
    } else {
      try remove()
    }
    return true
  }

  /// Keeps `old` durably in a file beside it, which the agent does not read.
  ///
  /// - Returns: its path; nil where there is nothing to keep, or it cannot be written.
  func keepBeside(_ old: Written) -> String? {
    guard current?.text != old.text else { return nil }
    for number in 0..<100 {
      let beside = SettingsFile(path: path + ".old" + (number == 0 ? "" : "\(number)"))
      if beside.current?.text == old.text { return beside.path }
      let isWritten = try? FileBytes.replace(
        beside.path, with: old.text, isNew: true,
        while: { !beside.exists })
      if isWritten == true { return beside.path }
    }
    return nil
  }

  /// What is at the path, to be compared: which file with which bytes, and where a link leads.
  struct State: Sendable, Equatable {
    let exists: Bool
    let content: Written?
    let linkTarget: String?

    static func == (left: State, right: State) -> Bool {
      left.exists == right.exists && left.content == right.content
        && FileBytes.isSpelled(left.linkTarget, right.linkTarget)
    }
  }

  var state: State { State(exists: exists, content: current, linkTarget: linkTarget) }

  /// Whether it is as it was written: the same file with the same bytes.
  func isStill(_ written: Written) -> Bool { current == written }

  /// Whether it has these bytes, also in another file: one that was changed and taken back since.
  func holds(_ written: Written) -> Bool { current?.text == written.text }

  /// What is there now; nil when it is gone, or is no regular file that can be read.
  var current: Written? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let text = FileBytes.readAll(from: descriptor, limit: 1 << 20)
    else { return nil }
    return Written(text: text, device: UInt(status.st_dev), inode: UInt(status.st_ino))
  }

  /// - Throws: `CommandError.configuration` when it is there and cannot be removed.
  func remove() throws(CommandError) {
    guard unlink(path) == 0 || errno == ENOENT else {
      throw .configuration("cannot remove \(path): \(FileBytes.errorText())")
    }
  }
}
