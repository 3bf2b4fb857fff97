import Dispatch
import Glibc
import Synchronization

@testable import AgentRuntime

/// Places of a file system that hang until they are released. Whoever watches a reading looks only while a thread hangs that
/// was not given up yet: however busy the machine is, nothing else is given up.
final class HangingPlaces: Sendable {
  private struct State {
    var gates: [String: DispatchSemaphore] = [:]
    /// Threads that hang now.
    var inside = 0
    var entered: [String] = []
    var reader: PatientReader?
  }

  private let state = Mutex(State())
  private let mountPoint: @Sendable (String) -> String?

  init(_ paths: String..., mountPoint: @escaping @Sendable (String) -> String? = { _ in nil }) {
    self.mountPoint = mountPoint
    hang(paths)
  }

  /// The reader that meets these places.
  var reader: PatientReader {
    let reader = PatientReader(
      uid: getuid(), pause: { [self] in try await untilOneHangs() }, enters: { [self] in enter($0) },
      mountPoint: mountPoint)
    state.withLock { $0.reader = reader }
    return reader
  }

  /// Each path that was touched, as often as it was.
  var entered: [String] { state.withLock { $0.entered } }

  func hang(_ paths: [String]) {
    state.withLock { state in
      for path in paths { state.gates[path] = DispatchSemaphore(value: 0) }
    }
  }

  /// The place answers from now on. Returns when the reader, to whom it is `place`, knows that.
  func release(_ path: String, hangingAs place: String? = nil) async {
    state.withLock { $0.gates.removeValue(forKey: path) }?.signal()
    while state.withLock({ $0.reader })?.hanging.contains(place ?? path) == true { await Task.yield() }
  }

  private func enter(_ path: String) {
    let gate = state.withLock { state in
      state.entered.append(path)
      let gate = state.gates[path]
      if gate != nil { state.inside += 1 }
      return gate
    }
    guard let gate else { return }
    gate.wait()
    gate.signal()
    state.withLock { $0.inside -= 1 }
  }

  private func untilOneHangs() async throws {
    try Task.checkCancellation()
    while true {
      let (inside, reader) = state.withLock { ($0.inside, $0.reader) }
      if inside > reader?.hanging.count ?? 0 { return }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}
