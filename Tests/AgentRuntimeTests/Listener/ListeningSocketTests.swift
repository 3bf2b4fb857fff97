import AgentWire
import Glibc
import Testing

@testable import AgentRuntime

@Suite("Opening the socket")
struct ListeningSocketTests {
  private let folder: ScratchFolder
  private var directory: String { folder.path + "/oauthctl" }
  private var path: String { directory + "/agent.sock" }

  init() throws { folder = try ScratchFolder() }

  private func open(
    _ source: SocketLocation.Source = .runtimeDirectory, uid: UInt32 = getuid()
  ) throws(ListenerError) -> ListeningSocket {
    try ListeningSocket.open(at: SocketLocation(path: path, source: source), uid: uid)
  }

  private func error(_ body: () throws(ListenerError) -> ListeningSocket) -> ListenerError? {
    do {
      close(try body().descriptor)
      return nil
    } catch {
      return error
    }
  }

  @Test("The default directory is made for us alone")
  func makesDirectory() throws {
    let socket = try open()
    #expect(SocketLocation.fileStatus(directory) == .init(kind: .directory, owner: getuid(), mode: 0o700))
    #expect(SocketLocation.fileStatus(path) == .init(kind: .socket, owner: getuid(), mode: 0o600))
    close(socket.descriptor)
  }

  @Test("A directory that the user named is not made")
  func namedDirectory() {
    #expect(
      error { () throws(ListenerError) in try open(.environment) }
        == .failed(call: "lstat", path: directory, errno: ENOENT))
  }

  @Test("A directory that is open to others is refused", arguments: [0o755, 0o701, 0o770, 0o777] as [mode_t])
  func openDirectory(_ mode: mode_t) {
    mkdir(directory, 0o700)
    chmod(directory, mode)
    let reason = "is open to others (mode \(String(mode, radix: 8)))"
    #expect(error { () throws(ListenerError) in try open() } == .unsafeDirectory(path: directory, reason: reason))
  }

  @Test("A symbolic link in place of the directory is refused")
  func linkedDirectory() {
    mkdir(folder.path + "/elsewhere", 0o700)
    symlink(folder.path + "/elsewhere", directory)
    #expect(
      error { () throws(ListenerError) in try open() }
        == .unsafeDirectory(path: directory, reason: "is a symbolic link"))
  }

  @Test("A directory of another user is refused")
  func foreignDirectory() {
    mkdir(directory, 0o700)
    #expect(
      error { () throws(ListenerError) in try open(uid: getuid() &+ 1) }
        == .unsafeDirectory(path: directory, reason: "belongs to another user"))
  }

  @Test("What a living agent serves is left alone")
  func served() throws {
    let first = try open()
    defer { close(first.descriptor) }
    #expect(error { () throws(ListenerError) in try open() } == .alreadyServed(path: path))
    #expect(SocketLocation.fileStatus(path)?.kind == .socket)
  }

  @Test("A socket that nobody serves any more is replaced")
  func stale() throws {
    close(try open().descriptor)
    #expect(SocketLocation.fileStatus(path)?.kind == .socket)
    let second = try open()
    #expect(error { () throws(ListenerError) in try open() } == .alreadyServed(path: path))
    close(second.descriptor)
  }

  @Test("A file or link at the path is not removed")
  func occupied() throws {
    mkdir(directory, 0o700)
    try folder.write("oauthctl/agent.sock", "mine")
    #expect(error { () throws(ListenerError) in try open() } == .occupied(path: path))
    unlink(path)
    symlink("/dev/null", path)
    #expect(error { () throws(ListenerError) in try open() } == .occupied(path: path))
  }

  @Test("A path that does not fit sockaddr_un is refused with its length")
  func tooLong() {
    let long = folder.path + "/" + String(repeating: "x", count: 120)
    let found = error { () throws(ListenerError) in
      try ListeningSocket.open(at: SocketLocation(path: long, source: .environment), uid: getuid())
    }
    #expect(found == .pathTooLong(path: long, limitBytes: 107))
  }

  @Test("The socket closes on exec, ours and an adopted one")
  func closesOnExec() throws {
    let socket = try open()
    #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    _ = fcntl(socket.descriptor, F_SETFD, 0)
    let adopted = try ListeningSocket.adopt(socket.descriptor)
    #expect(fcntl(adopted.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    close(socket.descriptor)
  }

  @Test("Only a listening Unix stream socket is adopted")
  func adopts() {
    var pipes: [Int32] = [0, 0]
    pipe(&pipes)
    let kinds: [(Int32, String)] = [
      (pipes[0], "is no socket"),
      (socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), "is no Unix socket"),
      (socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0), "is no stream socket"),
      (socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0), "does not listen"),
      (9_999, "is not open"),
    ]
    for (descriptor, reason) in kinds {
      #expect(throws: ListenerError.unsuitableDescriptor(descriptor, reason: reason)) {
        try ListeningSocket.adopt(descriptor)
      }
      if descriptor != 9_999 { close(descriptor) }
    }
    close(pipes[1])
  }
}
