package import AgentWire
import CLinux
import Glibc

/// The agent that runs, as a process that can be ended.
package struct RunningAgent {
  /// Longest wait for the answers of an agent that is well: it asks no server for them.
  private static let answerMilliseconds = 5_000

  package let status: AgentStatusAnswer
  private let location: SocketLocation
  /// A pidfd: whatever the process id may be somebody else's later, this is the agent.
  private let process: Descriptor

  /// Nil when none runs; none is started. Throws as ``AgentStarter/connect(starting:connectMilliseconds:)``, `timeout` when
  /// it hangs, and `notReachable` when nobody can say which process it is.
  package init?(of starter: AgentStarter) throws(ClientError) {
    let location = starter.location
    let connector = SocketConnector(location: location, uid: geteuid())
    do throws(SocketConnector.Refusal) { _ = try connector.open() } catch {
      if case .nobody = error { return nil }
      throw AgentConnection.unreachable(location, error)
    }
    status = try starter.connect(starting: false)
      .call(AgentStatus(limit: 1), timeoutMilliseconds: Self.answerMilliseconds)
    self.location = location
    let number = clinux_open_process(pid_t(status.pid))
    guard number >= 0 else {
      throw .notReachable(
        path: PrintableText.escaped(location.path),
        reason: "its process \(status.pid) is not seen here: \(describe(errno: errno))", hint: "end it where it runs")
    }
    process = Descriptor(number)
    // Asked of the kernel, and after the process was opened: an id in an answer may be one of another PID namespace.
    let socket: Descriptor
    do throws(SocketConnector.Refusal) { socket = try connector.open() } catch {
      throw AgentConnection.unreachable(location, error)
    }
    var (user, group, listener) = (uid_t(), gid_t(), pid_t())
    guard clinux_peer_credentials(socket.number, &user, &group, &listener) == 0, Int(listener) == status.pid else {
      throw .notReachable(
        path: PrintableText.escaped(location.path),
        reason: "it says that it is process \(status.pid), and process \(listener) listens there",
        hint: "end it where it runs")
    }
  }

  /// Asks it to end, as a service manager would.
  package func terminate() throws(ClientError) {
    if clinux_signal_process(process.number, SIGTERM) == 0 || errno == ESRCH { return }
    throw .notReachable(
      path: PrintableText.escaped(location.path),
      reason: "process \(status.pid) cannot be ended: \(describe(errno: errno))", hint: .run("kill \(status.pid)"))
  }

  /// Waits for its end. False when it still runs after `milliseconds`.
  package func hasEnded(within milliseconds: Int) -> Bool {
    do throws(ClientError) {
      try Deadline(milliseconds: milliseconds).wait(for: process, POLLIN)
      return true
    } catch { return false }
  }
}
