import Glibc
import Synchronization
import SystemFacts

/// Sees when somebody changed the configuration files (inotify(7)). Where that does not tell, as of a file behind a link, or
/// where the system gives nothing to be told by, they are looked at every two seconds.
///
/// Nothing is seen before it was armed once. The folders may come and go; each reading arms it anew, before it reads, so that
/// no change falls between the two.
package final class ConfigurationWatch: Sendable {
  /// Editors and programs write in several steps: so long nothing may happen before the files are read again.
  package static let calm = LoopSpan.milliseconds(200)
  /// Where it never gets calm they are read after so long.
  static let patience = LoopSpan.seconds(2)
  /// How often they are looked at where changes may hide; less often, up to the longest, while each look finds one.
  static let looking = LoopSpan.seconds(2)
  static let longestLooking = LoopSpan.seconds(16)

  /// -1: the system has no more of them for this user.
  let descriptor: Int32
  /// A change was seen that has not been reported yet.
  private let isUncalm = Atomic(false)
  private let folder: ConfigurationFolder
  private let reader: PatientReader
  private let paths: [String]
  private let files = FileWatches()
  /// Whether changes may hide, what there was at the last look, and who is told that they may.
  private let hidden = Mutex<(mayBe: Bool, seen: FilesSeen?, tell: (@Sendable () -> Void)?)>((false, nil, nil))

  /// Looks at files by `reader`, so that what hangs is left out as in a reading.
  init(folder: ConfigurationFolder, reader: PatientReader) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    self.folder = folder
    self.reader = reader
    paths = [folder.path, folder.accountsFolder]
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whether something has changed that was not reported yet. Whoever has just changed a file asks before it is calm.
  var hasUnreportedChange: Bool {
    if isUncalm.load(ordering: .relaxed) { return true }
    guard descriptor >= 0 else { return false }
    var events = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&events, 1, 0) > 0
  }

  /// Looks at the folders that are there now. What was looked at already stays so. One that hangs keeps the calling thread.
  func arm() {
    // IN_ATTRIB: a file or folder that others could write, or that nobody could read, may have been put right.
    let inside = IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_ATTRIB
    // The folder itself may go, and nobody looks at the one above it.
    let changes = inside | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR
    // Without room for more, or at all.
    var isDeaf = descriptor < 0
    for path in paths where inotify_add_watch(descriptor, path, UInt32(changes)) < 0 {
      if ![ENOENT, ENOTDIR, EACCES].contains(errno) { isDeaf = true }
      // Until it is made, or may be read: what comes into the first folder above it that can be looked at. It may be one
      // that is looked at for more than that.
      var arrivals = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR | IN_MASK_ADD)
      var above = path[...]
      while let slash = above.utf8.lastIndex(of: UInt8(ascii: "/")), slash != above.startIndex {
        above = above[..<slash]
        if inotify_add_watch(descriptor, String(above), arrivals) >= 0 { break }
        // Much comes into a home: it is looked at once more only while that is needed.
        arrivals |= UInt32(IN_ONESHOT)
      }
    }
    watchFoldersAbove()
    let mayHideInFiles = files.arm(folder, by: descriptor)
    let mayHide = isDeaf || mayHideInFiles || folder.hidesChanges
    let tell = hidden.withLock { hidden in
      hidden.mayBe = mayHide
      if !mayHide { hidden.seen = nil }
      return mayHide ? hidden.tell : nil
    }
    tell?()
  }

  /// Whether changes may hide from whoever watches the folders.
  var mayMiss: Bool { hidden.withLock { $0.mayBe } }

  /// Whether something was changed since the last look; the first one cannot know.
  func hasHiddenChange() async -> Bool {
    let before = hidden.withLock { $0.seen }
    // Where it fails, nothing is read either: too many places hang.
    guard case .success(let now) = await reader.read({ [folder] in FilesSeen(folder, before: before, $0) }) else {
      return false
    }
    hidden.withLock { $0.seen = now }
    return now != before
  }

  /// A folder further up that others may write to keeps the files from being read, until it is put right. Nothing else is looked
  /// at in there, since there is much coming and going.
  private func watchFoldersAbove() {
    let trust = FolderTrust.files(of: geteuid())
    let changes = UInt32(IN_ATTRIB | IN_ONLYDIR | IN_MASK_ADD) | UInt32(IN_ONESHOT)
    // The way to the accounts leads through the folder above them, where they are there.
    guard let accounts = paths.last, let way = PathWalk.live(asFarAs: accounts) else { return }
    for folder in way.folders + [way.end] where !paths.contains(folder) {
      if trust.fault(of: folder, isLast: false) != nil { _ = inotify_add_watch(descriptor, folder, changes) }
      // One of the user's own may be moved away, and another put in its place, with other files in it.
      var found = stat()
      guard lstat(folder, &found) == 0, found.st_uid == geteuid() else { continue }
      _ = inotify_add_watch(descriptor, folder, UInt32(IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR | IN_MASK_ADD))
    }
  }

  /// Runs what may take long beside the loop; false when it could not be started.
  typealias Runner = @Sendable (@escaping @Sendable () -> Void) -> Bool

  /// Calls `changed` on `loop` whenever the files changed and are calm again, from now on.
  package func listen(on loop: ServingLoop, _ changed: @escaping @Sendable () -> Void) async {
    await listen(on: loop, beside: { startThread(name: "watching", stackBytes: 256 << 10, $0) }, changed)
  }

  func listen(on loop: ServingLoop, beside runner: @escaping Runner, _ changed: @escaping @Sendable () -> Void) async {
    await loop.run { [self] queue in
      let quiet = QuietPeriod(watch: self, loop: loop, queue: queue, runner: runner, changed: changed)
      // What the kernel cannot wait for is looked at.
      if descriptor >= 0 { _ = queue.add(descriptor, .reading, quiet) }
      let bound = LoopBound(quiet, queue)
      hidden.withLock { $0.tell = { loop.execute { queue in bound.value(on: queue).lookLater() } } }
      if mayMiss { quiet.lookLater() }
    }
  }

  /// Reports changes once no more have come for a moment.
  private final class QuietPeriod: DescriptorHandler {
    private let watch: ConfigurationWatch
    private unowned let queue: EventQueue
    private let changed: @Sendable () -> Void
    private let loop: ServingLoop
    private let runner: Runner
    private var timer: EventQueue.Timer?
    /// The folders are looked at anew on another thread: on a network that hangs it would keep everybody waiting.
    private var isArming = false
    private var mustArm = false
    /// It was calm before a new folder was looked at: what came into that until then was not seen.
    private var isCalmTooSoon = false
    /// A look is due, or under way.
    private var isLooking = false
    private var looking = ConfigurationWatch.looking
    /// When what was not reported yet began to change.
    private var since: LoopTime? {
      didSet { watch.isUncalm.store(since != nil, ordering: .relaxed) }
    }

    init(
      watch: ConfigurationWatch, loop: ServingLoop, queue: EventQueue, runner: @escaping Runner,
      changed: @escaping @Sendable () -> Void
    ) {
      self.watch = watch
      self.loop = loop
      self.runner = runner
      self.queue = queue
      self.changed = changed
    }

    func isReady(_ readiness: Interest) {
      // Which file it was does not matter: all are read again.
      withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { events in
        while read(watch.descriptor, events.baseAddress, events.count) > 0 {}
      }
      hasChanged()
    }

    private func hasChanged() {
      arm()
      if let timer { queue.cancel(timer) }
      let began = since ?? queue.now
      since = began
      let due = min(queue.now + ConfigurationWatch.calm, began + ConfigurationWatch.patience)
      timer = queue.schedule(at: due) { [unowned self] in
        since = nil
        isCalmTooSoon = isArming
        changed()
      }
    }

    /// Looks at the files in a while, beside the loop, and again as long as changes may hide.
    func lookLater() {
      guard !isLooking else { return }
      isLooking = true
      _ = queue.schedule(at: queue.now + looking) { [self] in
        let bound = LoopBound(self, queue)
        let (watch, loop) = (watch, loop)
        Task {
          let hasChanged = await watch.hasHiddenChange()
          loop.execute { queue in bound.value(on: queue).looked(hasChanged) }
        }
      }
    }

    private func looked(_ hasChanged: Bool) {
      isLooking = false
      let longer = LoopSpan(nanoseconds: 2 * looking.nanoseconds)
      looking = hasChanged ? min(ConfigurationWatch.longestLooking, longer) : ConfigurationWatch.looking
      if hasChanged { self.hasChanged() }
      if watch.mayMiss { lookLater() }
    }

    /// A folder may be new: files that come into it have to be seen as well. Those that came before it was looked at are
    /// read all the same, since the files are read after it.
    private func arm() {
      mustArm = true
      guard !isArming else { return }
      (isArming, mustArm) = (true, false)
      let bound = LoopBound(self, queue)
      let (watch, loop) = (watch, loop)
      let isStarted = runner {
        watch.arm()
        loop.execute { queue in bound.value(on: queue).armed() }
      }
      // Without a thread: the next reading arms it.
      if !isStarted { isArming = false }
    }

    private func armed() {
      isArming = false
      if mustArm { return arm() }
      guard isCalmTooSoon else { return }
      isCalmTooSoon = false
      changed()
    }
  }
}
