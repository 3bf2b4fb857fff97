import Glibc
import Synchronization
import SystemFacts

/// The log of an agent that `oauthctl` started, for which nobody else keeps one: `oauthd.log` in the state folder, and the
/// one before it.
///
/// It is opened for each group of lines: so it may be taken away or moved, the folder too, and two agents, of which one is
/// ending, write into the same.
final class LogFile: LogSink {
  static let name = "oauthd.log"
  static let olderName = "oauthd.log.1"
  /// Of each of the two: 1 MiB are some ten thousand lines.
  static let greatestBytes = 1 << 20

  private struct Failure: Error { var reason: String }

  let folder: String
  /// The last write ended within a line.
  private let isTorn = Mutex(false)

  init(folder: String) { self.folder = folder }

  var path: String { "\(folder)/\(Self.name)" }

  /// Whether the file makes room for a new one before so many bytes more are written.
  static func isFull(bytes: Int, adding more: Int) -> Bool { bytes > 0 && bytes + more > greatestBytes }

  func write(_ bytes: [UInt8]) -> (count: Int, problem: String?) {
    let file: Int32
    do throws(Failure) { file = try open(adding: bytes.count) } catch { return (0, error.reason) }
    defer { close(file) }
    return isTorn.withLock { isTorn in
      let feed = isTorn ? [UInt8(ascii: "\n")] : []
      var (count, problem) = DescriptorSink.write(feed + bytes, to: file)
      if count > 0 {
        let end = count == feed.count ? UInt8(ascii: "\n") : bytes[count - feed.count - 1]
        isTorn = end != UInt8(ascii: "\n")
      }
      count = max(0, count - feed.count)
      problem = problem.map { "\(path): \($0)" }
      return (count, problem)
    }
  }

  private func open(adding more: Int) throws(Failure) -> Int32 {
    let obstacle = PrivateCreation.makeFolders(folder)
    let directory = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard directory >= 0 else {
      if errno == ENOENT { errno = obstacle }
      throw failed(folder)
    }
    defer { close(directory) }
    var status = stat()
    guard fstat(directory, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
      throw Failure(reason: "\(folder) is not a folder that you alone can write to")
    }
    let file = try openFile(in: directory, &status)
    guard Self.isFull(bytes: Int(status.st_size), adding: more) else { return file }
    close(file)
    guard renameat(directory, Self.name, directory, Self.olderName) == 0 else { throw failed(path) }
    return try openFile(in: directory, &status)
  }

  private func openFile(in directory: Int32, _ status: inout stat) throws(Failure) -> Int32 {
    // Without O_NONBLOCK a planted FIFO would hang the open.
    let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let file = openat(directory, Self.name, flags, 0o600)
    guard file >= 0 else {
      if errno == ELOOP { throw Failure(reason: "\(path) is a symbolic link") }
      throw failed(path)
    }
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
      status.st_nlink == 1,
      status.st_mode & 0o077 == 0 || fchmod(file, 0o600) == 0
    else {
      close(file)
      throw Failure(reason: "\(path) is not your own file, or has a second name (hard link)")
    }
    return file
  }

  private func failed(_ path: String) -> Failure { Failure(reason: "\(path): \(String(cString: strerror(errno)))") }
}
