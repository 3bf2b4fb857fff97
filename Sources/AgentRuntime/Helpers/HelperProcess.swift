import CLinux
import Glibc
import SystemFacts

/// The programs beside the agent's own that do one thing each, in a process of their own.
package enum HelperProcess {
  /// The helper `name` that was installed with `executable`, in the same folder.
  package static func path(_ name: String, beside executable: String) -> String {
    guard let slash = executable.utf8.lastIndex(of: UInt8(ascii: "/")) else { return name }
    return executable[...slash] + name
  }

  /// Why a helper was not started.
  struct StartFailure: Error {
    /// Without its path.
    let reason: String
    /// Whether the same may succeed later: it is no fault of the installation.
    let mayPass: Bool
  }

  /// Starts the helper at `path` with `input` and `output` as its descriptors 0 and 1.
  static func start(_ path: String, _ input: Int32, _ output: Int32) throws(StartFailure) -> pid_t {
    if let fault = ProgramBeside.fault(of: path) { throw StartFailure(reason: fault.reason, mayPass: false) }
    var process: pid_t = 0
    let error = clinux_start_helper(path, input, output, &process)
    guard error != 0 else { return process }
    throw StartFailure(
      reason: String(cString: strerror(error)),
      mayPass: [EAGAIN, ENOMEM, EMFILE, ENFILE, ETXTBSY, EINTR].contains(error))
  }

  /// How a process ended (wait(2)), once it has: the low seven bits are a signal, or 0 and the exit status stands above
  /// them. Blocks.
  static func reap(_ process: pid_t) -> End {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { return .unknown }
    }
    return status & 0x7F == 0 ? .exited(status: status >> 8 & 0xFF) : .killed(signal: status & 0x7F)
  }

  /// How a process ended.
  enum End: CustomStringConvertible {
    case exited(status: Int32)
    case killed(signal: Int32)
    case unknown

    var description: String {
      switch self {
      case .exited(let status): "status \(status)"
      case .killed(let signal): "signal \(signal)"
      case .unknown: "status unknown"
      }
    }
  }

  /// Returns when `process` has ended; it is still to be reaped, so that nobody gets its number. Blocks.
  static func wait(_ process: pid_t) {
    var about = siginfo_t()
    while waitid(P_PID, id_t(process), &about, WEXITED | WNOWAIT) < 0, errno == EINTR {}
  }
}
