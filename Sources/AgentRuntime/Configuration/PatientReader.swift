import AgentWire
import Synchronization

/// Reads files on threads made for it, one reading at a time, and waits for none of them without end: a file system may hang
/// (a network drive that is away, FUSE), and a thread that hangs there cannot be called back.
///
/// A reading that stays at one file for some seconds is given up, and begun anew on another thread that leaves that file out,
/// with all of its file system where no folder of that has answered in the same reading.
/// As long as the first thread hangs, all readings leave it out, so that no second one is lost there; when it comes back, the
/// next reading looks again.
final class PatientReader: Sendable {
  /// Threads that may hang, each with its stack, and what a reading may have to wait for one after the other. Who has more
  /// places that hang than that is told so, and nothing is read until one of them answers.
  static let mostHanging = 4
  /// Looks at a reading that have to find it where the one before did. With a second between two: five, as long as a request
  /// waits for its private authority (`AuthorityFiles`). No file of some KiB takes that long on a drive that works, and a
  /// caller waits longer for an answer. Looks are counted and no clock is asked: a machine that slept was no slow drive.
  private static let looks = 5

  private struct State {
    var isReading = false
    /// Who reads next, in the order in which they came.
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// Where a thread hangs, each alone.
    var hanging: Set<String> = []
  }

  private enum End<Answer: Sendable>: Sendable {
    case answer(Answer)
    case noThread
    case hangs
  }

  let uid: UInt32
  private let pause: @Sendable () async throws -> Void
  private let enters: @Sendable (String) -> Void
  private let mountPoint: @Sendable (String) -> String?
  private let state = Mutex(State())

  /// Files are `uid`'s or root's. `pause` is what is slept between two looks, `enters` is called before each file, and
  /// `mountPoint` tells where a path's file system is mounted, for tests.
  init(
    uid: UInt32, pause: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(1)) },
    enters: @escaping @Sendable (String) -> Void = { _ in },
    mountPoint: @escaping @Sendable (String) -> String? = { MountPoint.of($0) }
  ) {
    self.uid = uid
    self.pause = pause
    self.enters = enters
    self.mountPoint = mountPoint
  }

  /// Where threads hang.
  var hanging: Set<String> { state.withLock { $0.hanging } }

  /// What `work` read. It touches files in steps of the attempt alone, and may be done twice, also by a thread that was given
  /// up before. Fails where nothing can be read at all.
  func read<Answer: Sendable>(
    _ work: @escaping @Sendable (ReadingAttempt) -> Answer
  ) async -> Result<Answer, TrustedFile.Failure> {
    await takeTurn()
    defer { endTurn() }
    while true {
      let hanging = hanging
      guard hanging.count < Self.mostHanging else { return .failure(Self.tooMany(hanging)) }
      switch await attempt(ReadingAttempt(uid: uid, avoiding: hanging, enters: enters), work) {
      case .answer(let answer): return .success(answer)
      case .noThread: return .failure(.refused("cannot be read: the system has no thread left"))
      case .hangs: continue
      }
    }
  }

  private static func tooMany(_ hanging: Set<String>) -> TrustedFile.Failure {
    .refused(
      "cannot be read in time: \(hanging.count) places do not answer, \(hanging.min() ?? "") is one of them",
      remedy: "look whether a disk or a network drive is away (dmesg); all is read again when one of them answers")
  }

  // MARK: One after the other

  private func takeTurn() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isReading { state.waiting.append(continuation) }
        defer { state.isReading = true }
        return !state.isReading
      }
      if isFree { continuation.resume() }
    }
  }

  private func endTurn() {
    let next = state.withLock { state in
      state.isReading = !state.waiting.isEmpty
      return state.isReading ? state.waiting.removeFirst() : nil
    }
    next?.resume()
  }

  // MARK: One attempt

  private func attempt<Answer: Sendable>(
    _ attempt: ReadingAttempt, _ work: @escaping @Sendable (ReadingAttempt) -> Answer
  ) async -> End<Answer> {
    let watcher = Mutex<Task<Void, Never>?>(nil)
    defer { watcher.withLock { $0?.cancel() } }
    return await withCheckedContinuation { (continuation: CheckedContinuation<End<Answer>, Never>) in
      // The parser calls itself for every value inside another, as deep as `ConfigurationLimits` lets it.
      let isStarted = startThread(name: "configuration", stackBytes: 1 << 20) { [self] in
        let answer = work(attempt)
        // Nobody waits any more for one that was given up.
        if !isBack(attempt) { continuation.resume(returning: .answer(answer)) }
      }
      guard isStarted else { return continuation.resume(returning: .noThread) }
      watcher.withLock { $0 = Task { if await hangs(attempt) { continuation.resume(returning: .hangs) } } }
    }
  }

  /// Returns true once `attempt` hangs and was given up, and false when the calling task is cancelled.
  private func hangs(_ attempt: ReadingAttempt) async -> Bool {
    var last: ReadingAttempt.Step?
    var looks = 0
    while (try? await pause()) != nil {
      let step = attempt.step
      looks = step == last ? looks + 1 : 0
      last = step
      if let step, looks >= Self.looks, giveUp(attempt, at: step) { return true }
    }
    return false
  }

  /// One lock holds both together: a thread that comes back finds its path here, or was not given up.
  private func giveUp(_ attempt: ReadingAttempt, at step: ReadingAttempt.Step) -> Bool {
    let place = place(of: step, in: attempt)
    return state.withLock { state in
      guard attempt.giveUp(at: step, for: place) else { return false }
      state.hanging.insert(place)
      return true
    }
  }

  /// The whole file system, where nothing tells that another part of it answers: then each further file would cost a thread.
  private func place(of step: ReadingAttempt.Step, in attempt: ReadingAttempt) -> String {
    guard let mount = mountPoint(step.path),
      // The table is read for the few that may be there, of thousands.
      !attempt.reached.contains(where: { $0.hasPrefix(mount) && mountPoint($0) == mount })
    else { return step.path }
    return mount
  }

  /// Whether `attempt`, whose thread ends, was given up before; then its path may be read again.
  private func isBack(_ attempt: ReadingAttempt) -> Bool {
    state.withLock { state in
      guard let path = attempt.givenUpAt else { return false }
      state.hanging.remove(path)
      return true
    }
  }
}
