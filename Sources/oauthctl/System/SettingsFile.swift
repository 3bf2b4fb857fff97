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

  @discardableResult
  private func write(
    _ bytes: [UInt8], behind target: String?, while isMeant: () -> Bool
  ) throws(CommandError) -> Written? {
    try FileBytes.makeFolder(FileBytes.folder(of: path))
    guard try FileBytes.replace(target ?? path, with: bytes, readAt: path, while: isMeant) else {
      throw changedMeanwhile
    }
    return current.flatMap { $0.text == bytes ? $0 : nil }
  }

  /// Puts back what was there before `written`: removes it where nothing was.
  ///
  /// - Returns: false where it is another file by now, which stays.
  func putBack(_ old: State, insteadOf written: Written?) throws(CommandError) -> Bool {
    guard let written, isStill(written) else { return false }
    if let before = old.content {
      try write(before.text, behind: old.linkTarget, while: { isStill(written) })
    } else {
      try remove()
    }
    return true
  }

  /// Keeps `old` beside the file, or beside `target`, in one that the agent does not read: a second name of the very file
  /// while it `isThere`, or a copy.
  ///
  /// - Throws: `CommandError` where that cannot be done; nothing is left there then.
  func keepBeside(_ old: Written, behind target: String?, isThere: Bool = true) throws(CommandError) -> SettingsFile {
    let place = target ?? path
    for number in 0..<Self.mostNames {
      // In a folder like /tmp others may take all names that can be foretold.
      let end = number == 0 ? "" : number < Self.mostNames / 2 ? "\(number)" : "-\(UInt64.random(in: 0 ... .max))"
      let beside = SettingsFile(path: place + ".old" + end)
      if isThere, link(place, beside.path) == 0 {
        if beside.isFile(of: old) { return beside }
        try beside.remove()
        throw changedMeanwhile
      }
      if isThere, errno == EEXIST { continue }
      if try FileBytes.replace(beside.path, with: old.text, isNew: true, while: { !beside.exists }) { return beside }
    }
    throw .configuration("no file can be made beside \(place); nothing is written", next: "run the command again")
  }

  private static let mostNames = 20

  /// Puts `old` back in its place: by one rename of `kept`, where that is still the very file, which needs no room on the
  /// disk.
  func putBack(
    _ old: Written, keptAt kept: SettingsFile, behind target: String?, while isMeant: () -> Bool
  ) throws(CommandError) {
    guard kept.isStill(old) else {
      try write(old.text, behind: target, while: isMeant)
      return kept.removeIfHolds(old)
    }
    guard try FileBytes.move(kept.path, over: target ?? path, readAt: path, while: isMeant) else {
      throw changedMeanwhile
    }
  }

  /// Where somebody else has taken the name meanwhile, the file is his.
  func removeIfHolds(_ written: Written) {
    if holds(written) { try? remove() }
  }

  /// By its number alone: it may not be readable just now.
  private func isFile(of written: Written) -> Bool {
    var about = stat()
    return lstat(path, &about) == 0 && (UInt(about.st_dev), UInt(about.st_ino)) == (written.device, written.inode)
  }

  /// Whether these bytes are in it as far as can be told.
  func mayHold(_ written: Written) -> Bool { current.map { $0.text == written.text } ?? isFile(of: written) }

  private var changedMeanwhile: CommandError {
    .configuration("\(path) was changed meanwhile; nothing is written", next: "run the command again")
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
