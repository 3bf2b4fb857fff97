import AgentWire
import Foundation
import Testing

@testable import AgentClient

// One after another: a program that one test still writes, held open by a fork of another, cannot be started.
@Suite("Starting the agent", .serialized)
struct AgentStarterTests {
  let folder = PrivateFolder()

  private var environment: [String: String] {
    ["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "SECRET": "hunter2", "LC_ALL": "C"]
  }

  /// Tells what it was given, then stays as the holder of the socket.
  private static let program = """
    #!/bin/sh
    echo $$ >> "$HOME/pids"
    { env; echo "cwd=$(pwd)"; echo "umask=$(umask)"; for n in $(seq 0 99); do
      test -e /proc/$$/fd/$n && echo "fd$n=$(readlink /proc/$$/fd/$n)"; done
      sed -n 's/^Sig\\(Blk\\|Ign\\):/sig\\1=/p' /proc/self/status
      set -- $(cat /proc/$$/stat); echo "session=$6"; } > "$HOME/facts.new"
    mv "$HOME/facts.new" "$HOME/facts"
    exec sleep 600

    """

  private func connect(_ agent: String = "oauthd", systemctl: [String] = [], starting: Bool = true) async
    -> ClientError?
  {
    let environment = environment
    let path = "\(folder.path)/\(agent)"
    return await onThread {
      do throws(ClientError) {
        let starter = try AgentStarter(
          variable: { environment[$0] }, environment: { environment }, agentPath: path, systemctl: systemctl)
        _ = try starter.connect(starting: starting)
        return nil
      } catch {
        return error
      }
    }
  }

  /// The script runs on its own: its file appears when it is ready.
  private func facts() async -> [String: String] {
    let folder = folder
    let text = await onThread { () -> String in
      for _ in 0..<2_000 {
        if case let text = folder.text("facts"), !text.isEmpty { return text }
        usleep(5_000)
      }
      return ""
    }
    return Dictionary(
      text.split(separator: "\n").compactMap { line in
        line.firstIndex(of: "=").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
      }, uniquingKeysWith: { first, _ in first })
  }

  private func pids() -> [pid_t] { folder.text("pids").split(separator: "\n").compactMap { pid_t($0) } }

  private func stopAll() {
    for pid in pids() { kill(pid, SIGKILL) }
  }

  @Test("hands the socket over, detached, with a small environment")
  func handsOver() async {
    folder.file("oauthd", Self.program, mode: 0o700)
    let inheritable = open("/dev/zero", O_RDONLY)
    #expect(await connect() == nil)
    close(inheritable)
    let facts = await facts()
    #expect(!facts.values.contains("/dev/zero"))
    let pid = pids().first.map { String($0) }
    #expect(facts["LISTEN_PID"] == pid)
    #expect(facts["LISTEN_FDS"] == "1")
    #expect(facts["OAUTHCTL_STARTED"] == "on_demand")
    #expect(facts["HOME"] == folder.path)
    #expect(facts["LC_ALL"] == "C")
    #expect(facts["SECRET"] == nil)
    #expect(facts["cwd"] == "/")
    #expect(facts["umask"] == "0077")
    #expect(facts["fd0"] == "/dev/null" && facts["fd1"] != nil && facts["fd2"] == "/dev/null")
    #expect(facts["fd3"]?.hasPrefix("socket:") == true)
    for number in 4...9 { #expect(facts["fd\(number)"].map { $0.contains("/oauthd") } ?? true) }
    #expect(facts["sigBlk"]?.contains { $0 != "0" && $0 != "\t" } == false)
    #expect(facts["session"] != pid && facts["session"] != String(getsid(0)))
    var status = stat()
    #expect(lstat("\(folder.path)/oauthctl", &status) == 0 && status.st_mode & 0o777 == 0o700)
    #expect(lstat("\(folder.path)/oauthctl/agent.sock", &status) == 0 && status.st_mode & 0o777 == 0o600)
    stopAll()
  }

  @Test("of fifty starters one starts, all connect")
  func fiftyStarters() async {
    folder.file("oauthd", Self.program, mode: 0o700)
    let errors = await withTaskGroup(of: ClientError?.self) { group in
      for _ in 0..<50 { group.addTask { await connect() } }
      return await group.reduce(into: []) { errors, error in errors += error.map { [$0] } ?? [] }
    }
    #expect(errors.isEmpty)
    _ = await facts()
    #expect(pids().count == 1)
    stopAll()
  }

  @Test("of two holders of the lock one waits")
  func lock() async {
    let path = folder.path
    let outcome = await onThread { () -> [Bool] in
      func take() -> StartLock? { try? StartLock(in: path, deadline: Deadline(milliseconds: 20)) }
      let first = take()
      let second = take()
      first?.release()
      return [first != nil, second != nil, take() != nil]
    }
    #expect(outcome == [true, false, true])
  }

  @Test("a path in an advised command is one word of a shell's")
  func quoted() {
    #expect {
      _ = try StartLock(in: "/nosuch/a b;touch x", deadline: Deadline(milliseconds: 20))
    } throws: { error in
      guard case ClientError.notReachable(_, _, let hint, _) = error else { return false }
      return hint.text.contains("rm '/nosuch/a b;touch x/start.lock'")
    }
  }

  @Test("takes the place of a socket that nobody listens on")
  func stale() async {
    folder.file("oauthd", Self.program, mode: 0o700)
    mkdir("\(folder.path)/oauthctl", 0o700)
    staleSocket(at: "\(folder.path)/oauthctl/agent.sock")
    #expect(await connect() == nil)
    _ = await facts()
    #expect(pids().count == 1)
    stopAll()
  }

  @Test("says when there is no oauthd, and leaves no socket behind")
  func noProgram() async {
    let error = await connect("missing")
    #expect(error?.exitStatus == 7)
    #expect(error?.message.contains("missing") == true)
    #expect(error?.hint?.text.isEmpty == false)
    #expect(access("\(folder.path)/oauthctl/agent.sock", F_OK) != 0)
  }

  @Test("starts none when it was told not to")
  func notWanted() async {
    folder.file("oauthd", Self.program, mode: 0o700)
    #expect(await connect(starting: false)?.exitStatus == 7)
    #expect(pids().isEmpty)
  }

  @Test("leaves alone what is no socket")
  func fileInTheWay() async {
    folder.file("oauthd", Self.program, mode: 0o700)
    mkdir("\(folder.path)/oauthctl", 0o700)
    folder.file("oauthctl/agent.sock", "precious")
    #expect(await connect()?.exitStatus == 7)
    #expect(folder.text("oauthctl/agent.sock") == "precious")
    #expect(pids().isEmpty)
  }

  @Test("asks the user's systemd when it has a socket unit")
  func userManager() async {
    makeUserManager()
    folder.file(
      "systemctl", "#!/bin/sh\necho \"$*\" > \"$HOME/asked\"\nmv \"$HOME/hidden\" \"$HOME/oauthctl/agent.sock\"\n",
      mode: 0o700)
    mkdir("\(folder.path)/oauthctl", 0o700)
    let agent = FakeAgent(at: "\(folder.path)/hidden", [.silence])
    #expect(await connect("missing", systemctl: ["\(folder.path)/systemctl"]) == nil)
    #expect(folder.text("asked") == "--user start oauthd.socket\n")
    agent.stop()
  }

  @Test("starts none of its own when systemd could not")
  func userManagerFails() async {
    makeUserManager()
    folder.file("oauthd", Self.program, mode: 0o700)
    folder.file("systemctl", "#!/bin/sh\nexit 1\n", mode: 0o700)
    let error = await connect(systemctl: ["\(folder.path)/systemctl"])
    #expect(error?.hint?.text.contains("systemctl --user status") == true)
    #expect(pids().isEmpty)
  }

  private func makeUserManager() {
    mkdir("\(folder.path)/systemd", 0o700)
    mkdir("\(folder.path)/systemd/user", 0o700)
    staleSocket(at: "\(folder.path)/systemd/private")
    folder.file("systemd/user/oauthd.socket", "[Socket]\n")
  }
}
