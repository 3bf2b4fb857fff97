import AgentWire
import Glibc
import SystemFacts

/// The two files of the log of an agent that `oauthctl` started, as one; the lines are shown escaped.
struct LogTail {
  /// Twice the longest line that the agent writes.
  private static let lineLimit = 8 << 10

  let path: String
  let terminal: Terminal

  /// The last `lines`, nil: all; with `follow` what comes then, until nobody reads.
  func run(lines: Int?, follow: Bool) throws(CommandError) {
    // Before anything is read: what comes between the two is seen by both.
    let changes = follow ? FolderChanges(FileBytes.folder(of: path)) : nil
    guard var file = OpenLog(path) else {
      let code = errno
      let cause = "\(path): \(FileBytes.errorText(code))"
      if code == ENOENT { throw .local("there is no log yet: \(cause)", next: .run("oauthctl status"), status: 1) }
      guard code == EACCES, let closed = ClosedPath.place(closing: path, to: geteuid()) else {
        throw .local("the log cannot be read: \(cause)", next: .run("ls -l \(ShellWord.quoted(path))"), status: 1)
      }
      throw .local(
        "the log cannot be read: \(path) \(closed.reason)", next: .run(closed.remedy(isFolder: false)), status: 1)
    }
    let older = FileBytes.contents(of: path + ".1", limit: 4 << 20) ?? []
    let all = (older + file.more()).split(separator: UInt8(ascii: "\n"))
    try show(lines.map { all.suffix($0) } ?? all[...])
    guard let changes else { return }
    while changes.wait() {
      try show(file.more().split(separator: UInt8(ascii: "\n"))[...])
      guard let next = OpenLog(path), !next.isSame(file) else { continue }
      file = next
      try show(file.more().split(separator: UInt8(ascii: "\n"))[...])
    }
  }

  private func show(_ lines: ArraySlice<ArraySlice<UInt8>>) throws(CommandError) {
    terminal.page(lines.map { PrintableText.escaped(String(decoding: $0, as: UTF8.self), limit: Self.lineLimit) })
    try Terminal.checkOutput()
  }
}

/// A log that is being read, whatever becomes of its name. Of the last line it gives what is there: lines are written
/// whole.
private final class OpenLog {
  private let descriptor: Int32
  private var status = stat()

  /// Nil, with errno set, where there is none.
  init?(_ path: String) {
    descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else { return nil }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  func isSame(_ other: OpenLog) -> Bool {
    status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino
  }

  func more() -> [UInt8] { FileBytes.readAll(from: descriptor, limit: 4 << 20) ?? [] }
}

/// Tells when files of a folder change (inotify(7)).
private final class FolderChanges {
  private let descriptor: Int32

  init?(_ folder: String) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0, inotify_add_watch(descriptor, folder, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)) >= 0
    else { return nil }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// False when nobody reads standard output any more.
  func wait() -> Bool {
    var requests = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
    ]
    while poll(&requests, 2, -1) < 0, errno == EINTR {}
    if requests[1].revents & Int16(POLLERR | POLLNVAL) != 0 { return false }
    while let some = FileBytes.readSome(from: descriptor, limit: 16 << 10), !some.isEmpty {}
    return true
  }
}
