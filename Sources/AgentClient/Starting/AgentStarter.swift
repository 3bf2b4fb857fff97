package import AgentWire
import CLinux
import Glibc
import SystemFacts

/// Finds the agent of this user, and starts it where none runs.
///
/// Order: connect; the user's socket unit when there is one; else this process binds the socket under a lock and hands it
/// to `oauthd` beside its own program. The socket is there before the agent is, so no caller is refused meanwhile.
package struct AgentStarter {
  /// Longest wait for another starter, which needs a tenth of a second on an idle machine.
  static let lockMilliseconds = 10_000
  /// Connections that wait while the agent starts.
  static let backlog: Int32 = 4_096

  package let location: SocketLocation
  private let environment: () -> [String: String]
  private let agentPath: String?
  private let systemctl: [String]

  /// Resolves the socket's place. `environment` is asked only when an agent has to be started. `agentPath` stands for
  /// `oauthd` beside this program; `systemctl` is looked for in this order, PATH has no say.
  /// Throws `notReachable` where there is no place for a socket.
  package init(
    variable: (String) -> String? = LiveSystem.variable,
    environment: @escaping () -> [String: String] = LiveSystem.environment, agentPath: String? = nil,
    systemctl: [String] = ["/usr/bin/systemctl", "/bin/systemctl"]
  ) throws(ClientError) {
    do {
      location = try SocketLocation.resolve(
        variable: variable, uid: geteuid(), status: LiveSystem.status)
    } catch {
      throw .notReachable(
        path: PrintableText.escaped(variable("OAUTHCTL_SOCKET") ?? "its socket"), reason: error.message,
        hint: error.hint)
    }
    self.environment = environment
    self.agentPath = agentPath
    self.systemctl = systemctl
  }

  /// A connection to the agent, started when `starting` and none runs. Throws `notReachable` or `timeout`.
  /// `connectMilliseconds` bounds the wait for a place in the queue of a running one.
  package func connect(
    starting: Bool = true, connectMilliseconds: Int = SocketConnector.connectMilliseconds
  ) throws(ClientError) -> AgentConnection {
    try AgentConnection(path: location.path, failingUnit: failingUnit) { () throws(ClientError) in
      try open(starting: starting, connectMilliseconds)
    }
  }

  /// A connection that gets every change; no agent is started for it. Throws as ``EventStream``.
  package func events() throws(ClientError) -> EventStream { try EventStream(to: location) }

  /// systemctl, where the user's systemd runs and has a socket unit for the agent.
  package var userManager: String? { UserManager(environment: environment(), programs: systemctl).program() }

  /// The agent's unit where systemd cannot start it, and whoever listens is systemd; nil: nothing is known against it.
  private func failingUnit() -> FailingUnit? {
    guard location.source != .environment else { return nil }
    return UserManager(environment: environment(), programs: systemctl).failingUnit()
  }

  /// Whether nobody listens, where this program starts an agent when it needs one.
  package var wouldStart: Bool {
    guard location.source != .environment else { return false }
    do throws(SocketConnector.Refusal) { _ = try connector.open() } catch {
      if case .nobody = error { return true }
    }
    return false
  }

  private var connector: SocketConnector { SocketConnector(location: location, uid: geteuid()) }

  private func open(starting: Bool, _ connectMilliseconds: Int) throws(ClientError) -> Descriptor {
    do {
      let socket = try connector.open(connectMilliseconds: connectMilliseconds)
      ClientTrace.tell?("connected to \(location.path)")
      return socket
    } catch {
      guard starting, case .nobody(let reason) = error else { throw AgentConnection.unreachable(location, error) }
      ClientTrace.tell?("\(location.path): \(reason)")
      return try start(because: reason)
    }
  }

  private func start(because reason: String) throws(ClientError) -> Descriptor {
    let environment = environment()
    let home = environment["HOME"].flatMap { LiveSystem.followedStatus($0) }
    if let refusal = StartPolicy.refusal(
      source: location.source, environment: environment, realUID: getuid(), effectiveUID: geteuid(), home: home,
      fault: FolderTrust.files(of: geteuid()).fault(toMake:))
    {
      throw notReachable("\(reason), and none is started: \(refusal.reason)", refusal.hint)
    }
    let manager = UserManager(environment: environment, programs: systemctl)
    if location.source != .temporary, let program = manager.program() {
      ClientTrace.tell?("\(program) --user start \(UserManager.unit)")
      guard manager.start(with: program), let socket = try? connector.open() else {
        throw notReachable(
          "systemd did not start \(UserManager.unit)", "ask why: systemctl --user status \(UserManager.unit)")
      }
      return socket
    }
    return try startBeside(environment)
  }

  private func startBeside(_ environment: [String: String]) throws(ClientError) -> Descriptor {
    try checkLimits()
    let program = try agentProgram()
    try makeDirectory()
    let lock = try StartLock(
      in: location.directory, deadline: Deadline(milliseconds: Self.lockMilliseconds))
    defer { lock.release() }
    do {
      // Another starter may have been faster.
      return try connector.open()
    } catch {
      guard case .nobody = error else { throw AgentConnection.unreachable(location, error) }
    }
    let listener = try listen()
    let started = CStrings(
      [
        "LISTEN_PID=" + String(repeating: " ", count: 24), "LISTEN_FDS=1", "LISTEN_FDNAMES=agent",
        "OAUTHCTL_STARTED=on_demand",
        // Else Swift's thread library tells the system's log of a thread priority that no user may have.
        "LIBDISPATCH_LOG=NO",
      ] + StartPolicy.inherited(environment))
    let arguments = CStrings([program])
    guard clinux_start_agent(program, arguments.pointers, started.pointers, listener.number) == 0 else {
      let reason = describe(errno: errno)
      unlink(location.path)
      throw notReachable(
        "\(PrintableText.escaped(program)) cannot be started: \(reason)", "install oauthd beside oauthctl")
    }
    ClientTrace.tell?("started an agent: \(program)")
    do {
      return try connector.open()
    } catch {
      if case .nobody = error { throw notReachable("it was started, and has ended", .run("oauthctl agent log -n 20")) }
      throw AgentConnection.unreachable(location, error)
    }
  }

  /// An agent that is started here has the limits of this process, and outlives it.
  private func checkLimits() throws(ClientError) {
    var number: Int32 = 0
    let low = clinux_low_limit(&number)
    guard let option = low.option, let counts = low.counts else { return }
    throw notReachable(
      "an agent started here could have \(low.hard) \(String(cString: counts)) (ulimit -H \(String(cString: option)))"
        + ", and needs \(low.least)", "once in a shell without that limit: oauthctl status")
  }

  /// `oauthd` in the folder of this program, never from PATH.
  private func agentProgram() throws(ClientError) -> String {
    if let agentPath { return agentPath }
    guard let own = OwnExecutable.path, let slash = own.utf8.lastIndex(of: UInt8(ascii: "/")) else {
      throw notReachable("\(OwnExecutable.pathProblem), so oauthd is not found", "start it by hand: oauthd")
    }
    let program = "\(own[..<slash])/oauthd"
    if let fault = ProgramBeside.fault(of: program) {
      throw notReachable(PrintableText.escaped(fault.reason), .advice(ProgramBeside.Fault.remedy))
    }
    return program
  }

  private func makeDirectory() throws(ClientError) {
    let directory = location.directory
    if PrivateCreation.makeFolder(directory) != 0, errno != EEXIST {
      let code = errno
      if code == EACCES, let closed = ClosedPath.place(closing: directory, to: geteuid()) {
        throw notReachable(
          "\(PrintableText.escaped(directory)) \(PrintableText.escaped(closed.reason))",
          .run(PrintableText.escaped(closed.remedy(isFolder: true))))
      }
      throw notReachable(
        "\(PrintableText.escaped(directory)) cannot be made: \(describe(errno: code))",
        "check that its parent folder is there, and yours")
    }
    guard let found = LiveSystem.status(directory) else {
      throw notReachable("its directory went away", "try again")
    }
    if let problem = location.problem(ofDirectory: found, uid: geteuid()) {
      throw AgentConnection.unreachable(location, .untrusted("its directory \(problem)"))
    }
  }

  /// Binds and listens, over a socket that nobody listens on any more. Under the lock.
  private func listen() throws(ClientError) -> Descriptor {
    if LiveSystem.status(location.path)?.kind == .socket { unlink(location.path) }
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0, var address = socketAddress(location.path) else {
      throw notReachable("no socket can be made: \(describe(errno: errno))", "try again")
    }
    let listener = Descriptor(number)
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0, chmod(location.path, 0o600) == 0, Glibc.listen(number, Self.backlog) == 0 else {
      throw notReachable("the socket cannot be bound: \(describe(errno: errno))", "look at what is at that path")
    }
    return listener
  }

  private func notReachable(_ reason: String, _ hint: NextStep) -> ClientError {
    .notReachable(path: PrintableText.escaped(location.path), reason: reason, hint: hint)
  }
}
