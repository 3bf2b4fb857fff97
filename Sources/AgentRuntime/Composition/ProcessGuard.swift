import AgentWire
import CLinux
import Glibc

/// What the process does to itself before any secret is there.
enum ProcessGuard {
  /// Descriptors that all connections, requests to servers and the vault need together.
  static let descriptors: rlim_t = 9_216
  /// Bytes of all keys' pages: six, and four more while a vault gets new keys.
  private static let lockedBytes = 40 << 10

  /// Signals of a crash, which Swift's runtime answers with a backtrace.
  private static let crashSignals = [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]

  /// No core, no tracing by the same user, private files, no death by a broken pipe or a limit, descriptors enough. Returns
  /// what could not be done.
  static func harden() -> [AgentCondition] {
    umask(0o077)
    signal(SIGPIPE, SIG_IGN)
    clinux_survive_limits()
    clinux_raise_limits()
    // A backtrace shows the memory that registers point to, and the program that makes it cannot read ours: it would
    // hang where a crash has to be short.
    for number in crashSignals { signal(number, SIG_DFL) }
    var degraded: [AgentCondition] = []
    if clinux_make_undumpable() != 0 {
      degraded.append(
        AgentCondition(.protection, "the process could not be made undumpable: core files may hold secrets"))
    }
    if !canLockMemory() {
      degraded.append(
        limit("keys may reach swap space: less than \(lockedBytes >> 10) KiB may be locked in memory (ulimit -l)"))
    }
    let files = raiseDescriptorLimit()
    if files < descriptors / 2 {
      degraded.append(limit("at most \(files) files may be open: many callers at once will be turned away"))
    }
    return degraded + limits()
  }

  /// Limits that it was started with and cannot raise, as far as they are too low.
  private static func limits() -> [AgentCondition] {
    var number: Int32 = 0
    var conditions: [AgentCondition] = []
    while case let low = clinux_low_limit(&number), let option = low.option, let counts = low.counts {
      conditions.append(
        limit("it may have no more than \(low.hard) \(String(cString: counts)) (ulimit -H \(String(cString: option)))"))
    }
    return conditions
  }

  private static func limit(_ message: String) -> AgentCondition {
    AgentCondition(.limit, message, hint: "in a shell, or by a unit, without that limit: oauthctl agent restart")
  }

  private static func canLockMemory() -> Bool {
    guard let pages = mmap(nil, lockedBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), pages != MAP_FAILED
    else { return false }
    defer { munmap(pages, lockedBytes) }
    return mlock(pages, lockedBytes) == 0
  }

  /// Shells give 1,024, of which connections alone may take all many times over. Returns what holds in the end.
  private static func raiseDescriptorLimit() -> rlim_t {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return descriptors }
    guard limit.rlim_cur < descriptors else { return limit.rlim_cur }
    var raised = limit
    raised.rlim_cur = min(descriptors, limit.rlim_max)
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 else { return limit.rlim_cur }
    return raised.rlim_cur
  }
}
