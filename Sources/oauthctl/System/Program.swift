import AgentClient
import CLinux
import Glibc
import SystemFacts

/// Starting other programs: no shell, no fork of our own, only what they need.
enum Program {
  /// Where standard streams and further descriptors of a child come from.
  struct Wiring: Sendable {
    /// (ours, theirs): which of ours the child has under which number. All others of ours are closed on exec; what was
    /// inherited by us is inherited by the child, under its own number.
    var descriptors: [(ours: Int32, theirs: Int32)] = []
    /// Descriptors the child has under the number they have here.
    var kept: [Int32] = []
    /// A session of its own, so that it outlives this terminal's signals.
    var isDetached = false
    /// Standard streams on `/dev/null` where `descriptors` does not say otherwise.
    var isSilent = false
    /// What the child gets of a variable, by its name, its value and where programs may come from; nil: nothing.
    var passed: @Sendable (_ name: String, _ value: String, ProgramLookup) -> String? = { _, value, _ in value }
  }

  struct StartFailure: Error, Equatable {
    let code: Int32
  }

  /// Starts `arguments[0]`, found as `ProgramLookup` says. It sees the name it was called by: some programs have many.
  ///
  /// - Returns: its process id.
  static func start(_ arguments: [String], _ wiring: Wiring = Wiring()) throws(StartFailure) -> pid_t {
    guard let name = arguments.first else { throw StartFailure(code: EINVAL) }
    let lookup = ProgramLookup.live()
    guard let program = lookup.find(name) else { throw StartFailure(code: ENOENT) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if wiring.isSilent {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    }
    for (ours, theirs) in wiring.descriptors { posix_spawn_file_actions_adddup2(&actions, ours, theirs) }
    // Onto itself: only the close-on-exec flag goes.
    for number in wiring.kept { posix_spawn_file_actions_adddup2(&actions, number, number) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // This program ignores these two; what else is ignored was so before (nohup) and stays so.
    var restored = sigset_t()
    sigemptyset(&restored)
    sigaddset(&restored, SIGPIPE)
    sigaddset(&restored, SIGXFSZ)
    posix_spawnattr_setsigdefault(&attributes, &restored)
    var flags = Int32(POSIX_SPAWN_SETSIGDEF)
    if wiring.isDetached { flags |= spawnSetSession }
    posix_spawnattr_setflags(&attributes, Int16(flags))

    var child: pid_t = 0
    let argumentPointers = arguments.map { strdup($0) }
    defer { for pointer in argumentPointers { free(pointer) } }
    let environmentPointers = environment(lookup, wiring)
    defer { for pointer in environmentPointers { free(pointer) } }
    let result = posix_spawn(
      &child, program, &actions, &attributes, argumentPointers + [nil], environmentPointers + [nil])
    guard result == 0 else { throw StartFailure(code: result) }
    ClientTrace.tell?("started \(program)")
    return child
  }

  /// The environment of a child: our own, with the folders of `PATH` that programs may come from. What is passed on as it is
  /// stays so to the byte: a folder's name need not be UTF-8. To be freed, each.
  private static func environment(_ lookup: ProgramLookup, _ wiring: Wiring) -> [UnsafeMutablePointer<CChar>?] {
    var variables = [strdup("PATH=" + lookup.folders.joined(separator: ":"))]
    guard var entry = clinux_environment() else { return variables }
    while let text = entry.pointee {
      entry += 1
      let pair = String(cString: text)
      guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let (name, value) = (String(pair[..<equals]), String(pair[pair.utf8.index(after: equals)...]))
      guard name != "PATH" else { continue }
      let passed = wiring.passed(name, value, lookup)
      let isAsItWas = passed?.utf8.elementsEqual(value.utf8) ?? false
      if let passed { variables.append(isAsItWas ? strdup(text) : strdup("\(name)=\(passed)")) }
      if !isAsItWas { ClientTrace.tell?("\(name) is passed on \(passed.map { "as \($0)" } ?? "to nobody")") }
    }
    return variables
  }

  /// POSIX_SPAWN_SETSID, which Glibc does not import.
  private static let spawnSetSession: Int32 = 0x80

  /// Waits for the end of a child.
  ///
  /// - Returns: its exit status, or 128 and the number of the signal that ended it.
  static func wait(for child: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      if errno != EINTR { return 127 }
    }
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }

  /// Bytes of standard output that are read of a program: thousands of times what is asked for.
  private static let outputLimit = 1 << 20
  /// Milliseconds until it has ended, at most; what it is asked takes some. git waits without end for what its settings include,
  /// where that is a pipe or on a drive that hangs.
  private static let outputMilliseconds = 10_000

  /// What a program wrote, and how it ended.
  struct Output: Sendable, Equatable {
    var status: Int32
    var text: String
    /// The first line of what it wrote to standard error: that is shown to nobody else.
    var complaint = ""
  }

  /// Runs a program to its end and gives what it wrote to standard output. One that writes more than 1 MiB has failed, and so has
  /// one that has not ended after ten seconds.
  static func output(of arguments: [String]) throws(StartFailure) -> Output {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw StartFailure(code: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // A file, unlike a second pipe, is never full.
    let complaints = clinux_memfd_create("complaints", 1)
    defer { if complaints >= 0 { close(complaints) } }
    let child: pid_t
    do {
      let errors = complaints >= 0 ? [(ours: complaints, theirs: Int32(2))] : []
      child = try start(
        arguments,
        Wiring(
          descriptors: [(ends[1], 1)] + errors,
          // By that variable `git config` would read and write another file than git goes by.
          passed: { name, value, _ in name == "GIT_CONFIG" ? nil : value }))
    } catch {
      for end in ends { close(end) }
      throw error
    }
    close(ends[1])
    let deadline = MonotonicClock.milliseconds() + outputMilliseconds
    var bytes: [UInt8] = []
    while bytes.count <= outputLimit, isReadable(ends[0], until: deadline),
      let some = FileBytes.readSome(from: ends[0], limit: 64 << 10), !some.isEmpty
    { bytes += some }
    // One that has more to write must not wait for a reader.
    close(ends[0])
    // It may live on without its output.
    let end = clinux_open_process(child)
    defer { if end >= 0 { close(end) } }
    let isLate = end >= 0 && !isReadable(end, until: deadline)
    if isLate { kill(child, SIGKILL) }
    let status = wait(for: child)
    if isLate {
      return Output(status: status, text: "", complaint: "it has not ended after \(outputMilliseconds / 1_000) s")
    }
    guard bytes.count <= outputLimit else {
      return Output(status: 128 + SIGPIPE, text: "", complaint: "it says more than \(outputLimit) bytes")
    }
    lseek(complaints, 0, SEEK_SET)
    let complaint = (FileBytes.readSome(from: complaints, limit: 4 << 10) ?? []).prefix { $0 != UInt8(ascii: "\n") }
    return Output(
      status: status, text: String(decoding: bytes, as: UTF8.self),
      complaint: String(decoding: complaint, as: UTF8.self))
  }

  private static func isReadable(_ descriptor: Int32, until deadline: Int) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let ready = poll(&waiting, 1, Int32(clamping: max(0, deadline - MonotonicClock.milliseconds())))
      if ready >= 0 || errno != EINTR { return ready > 0 }
    }
  }
}
