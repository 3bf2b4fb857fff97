import Glibc
import HelperFormats

extension CurlRun {
  /// What keeps two runs of curl from reading and writing the same: a pipe that has a name, or a file that is read and that the
  /// answer goes into. Nil: nothing. What curl writes to our own standard output is held.
  var fileObstacle: String? {
    let arguments = invocation.arguments
    let ours = ["/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/proc/self/fd/1", "/proc/self/fd/2", "-"]
    func about(_ path: String) -> stat? {
      var found = stat()
      return (path == "-" ? fstat(STDIN_FILENO, &found) : stat(path, &found)) == 0 ? found : nil
    }
    let read = arguments.filesRead + (arguments.readsStandardInput ? ["-"] : [])
    func others(_ files: [String]) -> [String] { files.filter { !ours.contains($0) } }
    let pipes: [mode_t] = [S_IFIFO, S_IFSOCK]
    if let pipe = (arguments.filesRead + others(arguments.filesWritten)).first(where: { path in
      about(path).map { pipes.contains($0.st_mode & S_IFMT) } ?? false
    }) {
      return "\(pipe), which can be read or written once"
    }
    // A terminal, say. Of these, the one that is always empty is read as often as anybody likes.
    let empty = about("/dev/null")?.st_rdev
    if let device = arguments.filesRead.first(where: { path in
      about(path).map { $0.st_mode & S_IFMT == S_IFCHR && $0.st_rdev != empty } ?? false
    }) {
      return "\(device), which is read once"
    }
    func isAmong(_ read: [String], _ path: String) -> Bool {
      guard let file = about(path) else { return false }
      return read.compactMap(about).contains {
        $0.st_mode & S_IFMT == S_IFREG && $0.st_dev == file.st_dev && $0.st_ino == file.st_ino
      }
    }
    // Cookies are meant to go on.
    let jars = arguments.values("cookie-jar")
    let both =
      others(arguments.filesWritten).first { !jars.contains($0) && isAmong(read, $0) }
      ?? others(jars).first { isAmong(arguments.filesRead(besides: ["cookie"]), $0) }
    return both.map { "\($0), which is read and written" }
  }
}
