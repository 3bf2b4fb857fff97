import AgentWire
import Foundation
import Testing

@testable import AgentClient

@Suite("The way to the socket")
struct SocketConnectorTests {
  /// What stands in the way, and whether an agent may be started there.
  enum Verdict: Equatable { case open, nobody, untrusted, busy, closed }

  private func verdict(_ location: SocketLocation, uid: uid_t = geteuid()) async -> Verdict {
    await onThread {
      do throws(SocketConnector.Refusal) {
        _ = try SocketConnector(location: location, uid: uid).open()
        return .open
      } catch {
        switch error {
        case .nobody: return .nobody
        case .untrusted: return .untrusted
        case .busy: return .busy
        case .closed, .noSocket: return .closed
        }
      }
    }
  }

  @Test(
    "a default directory is ours and closed to others",
    arguments: [
      (mode_t(0o700), SocketLocation.Source.runtimeDirectory, Verdict.open), (0o755, .runtimeDirectory, .untrusted),
      (0o710, .temporary, .untrusted), (0o755, .environment, .open), (0o777, .environment, .untrusted),
      (0o1777, .environment, .untrusted), (0o720, .environment, .untrusted),
    ])
  func directoryMode(mode: mode_t, source: SocketLocation.Source, expected: Verdict) async {
    let folder = PrivateFolder(mode: mode)
    let agent = FakeAgent(at: "\(folder.path)/agent.sock", [.silence])
    #expect(await verdict(SocketLocation(path: agent.path, source: source)) == expected)
    agent.stop()
  }

  @Test("a directory behind a symbolic link is not trusted")
  func linkedDirectory() async {
    let folder = PrivateFolder()
    mkdir("\(folder.path)/real", 0o700)
    symlink("real", "\(folder.path)/link")
    let agent = FakeAgent(at: "\(folder.path)/real/agent.sock", [.silence])
    #expect(await verdict(SocketLocation(path: agent.path, source: .temporary)) == .open)
    let linked = "\(folder.path)/link/agent.sock"
    #expect(await verdict(SocketLocation(path: linked, source: .temporary)) == .untrusted)
    #expect(await verdict(SocketLocation(path: linked, source: .environment)) == .untrusted)
    agent.stop()
  }

  @Test("what is no socket is not trusted")
  func noSocket() async {
    let folder = PrivateFolder()
    folder.file("file.sock", "")
    let agent = FakeAgent(at: "\(folder.path)/agent.sock", [.silence])
    symlink("agent.sock", "\(folder.path)/link.sock")
    #expect(await verdict(SocketLocation(path: "\(folder.path)/file.sock", source: .temporary)) == .untrusted)
    #expect(await verdict(SocketLocation(path: "\(folder.path)/link.sock", source: .temporary)) == .untrusted)
    agent.stop()
  }

  @Test("a limit of this process is not told as a fault of the socket's folder")
  func limit() {
    let location = SocketLocation(path: "/run/user/1/agent.sock", source: .environment)
    let told = "\(AgentConnection.unreachable(location, .noSocket("Too many open files")))"
    #expect(told.contains("Too many open files") && told.contains("ulimit -n") && !told.contains("OAUTHCTL_SOCKET"))
  }

  @Test("nobody is there: no directory, no socket, or one that nobody listens on any more")
  func nobody() async {
    let folder = PrivateFolder()
    #expect(await verdict(SocketLocation(path: "\(folder.path)/none/agent.sock", source: .temporary)) == .nobody)
    #expect(await verdict(SocketLocation(path: "\(folder.path)/agent.sock", source: .temporary)) == .nobody)
    staleSocket(at: "\(folder.path)/agent.sock")
    #expect(await verdict(SocketLocation(path: "\(folder.path)/agent.sock", source: .temporary)) == .nobody)
  }

  @Test("an agent of another user is not spoken to", .enabled(if: geteuid() == 0, "needs a second user: root's"))
  func otherUser() async {
    let folder = PrivateFolder(mode: 0o755)
    let agent = FakeAgent(at: "\(folder.path)/agent.sock", [.silence])
    #expect(await verdict(SocketLocation(path: agent.path, source: .environment), uid: 12_345) == .untrusted)
    #expect(agent.received.isEmpty)
    agent.stop()
  }
}

/// A socket file whose listener is gone.
func staleSocket(at path: String) {
  let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  guard var address = socketAddress(path) else { return }
  withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      _ = bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  close(number)
}
