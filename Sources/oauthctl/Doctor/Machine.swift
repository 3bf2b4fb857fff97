import AgentClient
import AgentWire
import CLinux
import Glibc
import SystemFacts

/// What the examination may look at of this machine. Every look is a function, so that the checks are rules.
struct Machine: Sendable {
  /// The effective user id.
  var userID: UInt32
  /// Unix time.
  var now: Int
  /// Whether something keeps the clock right; nil when the kernel does not tell.
  var clockIsSynchronized: Bool?
  /// The version of Landlock that the kernel offers; 0: none.
  var landlockVersion: Int
  /// The path of this program.
  var program: String?
  /// lstat(2).
  var status: @Sendable (String) -> SocketLocation.FileStatus?
  /// stat(2).
  var followedStatus: @Sendable (String) -> SocketLocation.FileStatus?
  /// realpath(3).
  var realPath: @Sendable (String) -> String?
  /// Unix time of the last change of a file's inode: when it was put there.
  var changedAt: @Sendable (String) -> Int?
  /// The text of a file of at most 1 MiB.
  var text: @Sendable (String) -> String?
  /// The names in a folder, sorted.
  var names: @Sendable (String) -> [String]
  var isExecutable: @Sendable (String) -> Bool
  /// Whether a TCP port on 127.0.0.1 is free; nil when it cannot be tried.
  var isPortFree: @Sendable (Int) -> Bool?
  /// Whether a process holds a lock on a file (fcntl(2)).
  var isLocked: @Sendable (String) -> Bool
  /// Bytes an ordinary user may still write in a folder.
  var freeBytes: @Sendable (String) -> Int?
  /// Whether a folder is on a file system that is mounted read-only.
  var isReadOnly: @Sendable (String) -> Bool
  var isNetworkFileSystem: @Sendable (String) -> Bool
  /// Runs a program to its end; nil when it cannot be started.
  var output: @Sendable ([String]) -> Program.Output?
  /// What keeps a file from its owner, who is asking; nil: nothing does.
  var closedPlace: @Sendable (String) -> ClosedPath.Place?

  static func live() -> Machine {
    let synchronized = clinux_clock_is_synchronized()
    return Machine(
      userID: geteuid(), now: time(nil), clockIsSynchronized: synchronized < 0 ? nil : synchronized == 1,
      landlockVersion: Int(clinux_landlock_version()), program: OwnExecutable.path, status: LiveSystem.status,
      followedStatus: LiveSystem.followedStatus, realPath: ProgramLookup.place,
      changedAt: { path in
        var found = stat()
        return stat(path, &found) == 0 ? found.st_ctim.tv_sec : nil
      },
      text: { path in FileBytes.contents(of: path).map { String(decoding: $0, as: UTF8.self) } },
      names: FileBytes.names(in:), isExecutable: { access($0, X_OK) == 0 }, isPortFree: isPortFree,
      isLocked: { path in
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return false }
        defer { close(number) }
        return clinux_is_locked(number) == 1
      },
      freeBytes: { path in
        var found = statvfs()
        guard statvfs(path, &found) == 0 else { return nil }
        // A file system may say any number.
        let (bytes, isTooMany) = found.f_bavail.multipliedReportingOverflow(by: found.f_frsize)
        return isTooMany ? Int.max : Int(clamping: bytes)
      },
      isReadOnly: { path in
        var found = statvfs()
        return statvfs(path, &found) == 0 && found.f_flag & UInt(ST_RDONLY) != 0
      },
      isNetworkFileSystem: { NetworkFileSystem.name(ofType: clinux_filesystem_type($0)) != nil },
      output: { try? Program.output(of: $0) },
      closedPlace: { access($0, R_OK) != 0 && errno == EACCES ? ClosedPath.place(closing: $0, to: geteuid()) : nil })
  }

  /// As the agent would: a port that an earlier connection still holds may be taken (SO_REUSEADDR).
  private static func isPortFree(_ port: Int) -> Bool? {
    guard let port = in_port_t(exactly: port) else { return nil }
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { return nil }
    defer { close(number) }
    var yes: Int32 = 1
    setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result == 0 { return true }
    return errno == EADDRINUSE ? false : nil
  }
}
