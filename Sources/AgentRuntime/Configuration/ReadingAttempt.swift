import AgentWire
import Glibc
import Synchronization

/// One reading of files on one thread, as far as it has come. Each file or folder that it touches is a step, named by its
/// path: so whoever waits sees at which one it hangs, and can give it up.
///
/// The thread of an attempt that was given up cannot be ended. Once it comes back it touches nothing more, and each of its
/// steps fails, so that nothing old is taken for what was read since.
final class ReadingAttempt: Sendable {
  struct Step: Equatable {
    var number: Int
    var path: String
  }

  private struct State {
    var steps = 0
    /// Where its thread is now; nil: at no file.
    var path: String?
    /// Folders that answered.
    var reached: [String] = []
    /// What it was given up for: where it was, or the file system that this is on.
    var givenUpAt: String?
  }

  static let hangs = TrustedFile.Failure.refused(
    "does not answer: its file system may hang",
    remedy: "look whether its disk or its network drive is away (dmesg); it is read again when that answers")

  let uid: UInt32
  /// Paths that other threads hang at.
  private let avoided: Set<String>
  private let enters: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// `enters` is called before each step, for tests.
  init(uid: UInt32, avoiding avoided: Set<String> = [], enters: @escaping @Sendable (String) -> Void = { _ in }) {
    self.uid = uid
    self.avoided = avoided
    self.enters = enters
  }

  // MARK: On its thread

  /// Looks whether anybody answers for `folder`, before files of it are read: where nobody does, all that is in it is left out
  /// at once, and no thread is lost at each of them.
  func reach(_ folder: String) throws(TrustedFile.Failure) {
    try at(folder) { _ = access(folder, F_OK) }
    state.withLock { $0.reached.append(folder) }
  }

  /// Its folder first: one that answers tells that not all of the file system hangs, whatever the file is a link to.
  func read(_ path: String, limitBytes: Int, isSecret: Bool = false) throws(TrustedFile.Failure) -> [UInt8] {
    if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex {
      let folder = String(path[..<slash])
      if !reached.contains(folder) { try reach(folder) }
    }
    return try at(path) { () throws(TrustedFile.Failure) in
      try TrustedFile.read(path, uid: uid, limitBytes: limitBytes, isSecret: isSecret)
    }
  }

  func names(in folder: String, limit: Int, isMeant: (String) -> Bool) throws(TrustedFile.Failure) -> [String] {
    let names = try at(folder) { () throws(TrustedFile.Failure) in
      try TrustedFile.names(in: folder, uid: uid, limit: limit, looks: ConfigurationLimits.names, isMeant: isMeant)
    }
    state.withLock { $0.reached.append(folder) }
    return names
  }

  func checkPlace(of path: String) throws(TrustedFile.Failure) {
    try at(path) { () throws(TrustedFile.Failure) in try TrustedFile.checkPlace(of: path, uid: uid) }
  }

  /// Does `work`, which touches what is at `path` or on the way there.
  func at<Found>(
    _ path: String, _ work: () throws(TrustedFile.Failure) -> Found
  ) throws(TrustedFile.Failure) -> Found {
    let begins = state.withLock { state in
      guard state.givenUpAt == nil, !isAvoided(path) else { return false }
      state.steps += 1
      state.path = path
      return true
    }
    guard begins else { throw Self.hangs }
    enters(path)
    let result = Result { () throws(TrustedFile.Failure) in try work() }
    let isGivenUp = state.withLock { state in
      state.path = nil
      return state.givenUpAt != nil
    }
    if isGivenUp { throw Self.hangs }
    return try result.get()
  }

  /// Whether others hang there, or at a folder above.
  private func isAvoided(_ path: String) -> Bool {
    guard !avoided.isEmpty else { return false }
    var path = path[...]
    while !avoided.contains(String(path)) {
      guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return false }
      path = path[..<slash]
    }
    return true
  }

  // MARK: On others

  /// The step that it is at.
  var step: Step? {
    state.withLock { state in state.path.map { Step(number: state.steps, path: $0) } }
  }

  /// Folders that answered in this reading.
  var reached: [String] { state.withLock { $0.reached } }

  /// For the sake of `place`. False: it has left that step meanwhile, and goes on.
  func giveUp(at step: Step, for place: String) -> Bool {
    state.withLock { state in
      guard state.steps == step.number, state.path != nil else { return false }
      state.givenUpAt = place
      return true
    }
  }

  var givenUpAt: String? { state.withLock { $0.givenUpAt } }
}
