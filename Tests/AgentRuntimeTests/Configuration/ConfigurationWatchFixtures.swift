import Glibc
import Synchronization

@testable import AgentRuntime

/// How often a change was told.
final class ChangeCount: Sendable {
  private let state = Mutex((count: 0, waiting: [(Int, CheckedContinuation<Void, Never>)]()))

  var count: Int { state.withLock { $0.count } }

  func add() {
    let woken = state.withLock { state in
      state.count += 1
      let woken = state.waiting.filter { $0.0 <= state.count }
      state.waiting.removeAll { $0.0 <= state.count }
      return woken
    }
    for (_, waiter) in woken { waiter.resume() }
  }

  func reaches(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.count >= count { return true }
        state.waiting.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}

func writeFile(_ path: String, _ text: String) {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
  close(file)
}

extension ConfigurationWatch {
  static func armed(
    _ folder: ConfigurationFolder, by reader: PatientReader = PatientReader(uid: getuid())
  ) -> ConfigurationWatch {
    let watch = ConfigurationWatch(folder: folder, reader: reader)
    watch.arm()
    return watch
  }

  func forgetEvents() {
    withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { events in
      while read(descriptor, events.baseAddress, events.count) > 0 {}
    }
  }

  /// Whether something waits to be read.
  var hasEvents: Bool {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(FIONREAD), &count) == 0 && count > 0
  }
}
