import AgentWire
import CLinux
import Glibc

/// The user's systemd, when it has a socket unit for the agent.
struct UserManager {
  static let unit = "oauthd.socket"

  let environment: [String: String]
  /// Where systemctl may be.
  let programs: [String]
  /// Longest wait for systemctl, which needs some tens of milliseconds on an idle machine.
  var waitMilliseconds = 10_000

  /// systemctl, when the manager runs and a unit file is there. Files alone are looked at.
  func program() -> String? {
    // After su(1) the variable names another user's, whose manager starts nothing for this one.
    guard let runtime = environment["XDG_RUNTIME_DIR"], LiveSystem.followedStatus(runtime)?.owner == geteuid(),
      LiveSystem.status("\(runtime)/systemd/private")?.kind == .socket
    else { return nil }
    let folders = StartPolicy.unitFolders(environment)
    guard folders.contains(where: { LiveSystem.followedStatus("\($0)/\(Self.unit)") != nil }) else { return nil }
    return programs.first { access($0, X_OK) == 0 }
  }

  /// Starts the unit. Returns whether systemctl said that it runs.
  func start(with program: String) -> Bool { run([program, "--user", "start", Self.unit]) }

  /// Nil: the agent's unit is well, or nothing is to be learnt of it.
  func failingUnit() -> FailingUnit? {
    guard let program = program() else { return nil }
    return FailingUnit.look { output(of: [program] + FailingUnit.question) }
  }

  /// What a program writes; nil where it fails.
  func output(of words: [String]) -> String? {
    let file = clinux_memfd_create("output", 1)
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard run(words, output: file) else { return nil }
    let bytes = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
      count = max(0, pread(file, buffer.baseAddress, buffer.count, 0))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether it ends well.
  private func run(_ words: [String], output: Int32? = nil) -> Bool {
    var actions = posix_spawn_file_actions_t()
    guard posix_spawn_file_actions_init(&actions) == 0 else { return false }
    defer { posix_spawn_file_actions_destroy(&actions) }
    for stream: Int32 in 0...2 { posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0) }
    if let output { posix_spawn_file_actions_adddup2(&actions, output, 1) }
    guard let program = words.first else { return false }
    let arguments = CStrings(words)
    let variables = CStrings(StartPolicy.inherited(environment))
    var child = pid_t()
    guard posix_spawn(&child, program, &actions, nil, arguments.pointers, variables.pointers) == 0 else { return false }
    return wait(for: child)
  }

  private func wait(for child: pid_t) -> Bool {
    let deadline = Deadline(milliseconds: waitMilliseconds)
    var status: Int32 = 0
    while true {
      let result = waitpid(child, &status, WNOHANG)
      if result == child { return status == 0 }
      if result < 0, errno != EINTR { return false }
      if deadline.remainingMilliseconds == 0 {
        kill(child, SIGKILL)
        waitpid(child, &status, 0)
        return false
      }
      usleep(2_000)
    }
  }
}

/// A NULL-terminated list of C strings, freed with the object.
final class CStrings {
  private(set) var pointers: [UnsafeMutablePointer<CChar>?]

  init(_ strings: [String]) {
    pointers = strings.map { strdup($0) } + [nil]
  }

  deinit {
    for pointer in pointers { free(pointer) }
  }
}
