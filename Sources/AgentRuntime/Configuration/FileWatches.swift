import Glibc
import Synchronization

/// Watches of single account files, beside those of their folders (inotify(7)): who writes to a file by another name of it, a
/// hard link or a bind mount, or gives it one, is seen by that alone.
final class FileWatches: Sendable {
  /// Most files of a folder that are watched: each takes a KiB of the kernel's, and one of the watches that a user's editors need,
  /// too.
  static let most = 1_024

  /// What is watched, and how often that was decided.
  private let state = Mutex((watched: Set<Int32>(), number: UInt64(0)))

  /// Watches the files in `folder` by `descriptor`, and no others any more. Returns whether a change of one of them may go unseen
  /// all the same. No link is followed, so this hangs where the folders do and nowhere else.
  func arm(_ folder: ConfigurationFolder, by descriptor: Int32) -> Bool {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    var watched: Set<Int32> = []
    var mayHide = false
    let changes = UInt32(IN_MODIFY | IN_ATTRIB | IN_DONT_FOLLOW)
    folder.forEachFile { path in
      var found = stat()
      guard lstat(path, &found) == 0 else { return }
      switch found.st_mode & S_IFMT {
      case S_IFLNK: mayHide = true
      case S_IFREG:
        let watch = watched.count < Self.most ? inotify_add_watch(descriptor, path, changes) : -1
        // One that nobody watches may get another name, and nobody is told.
        if watch >= 0 { watched.insert(watch) } else { mayHide = true }
      default: break
      }
    }
    let left = state.withLock { state in
      // One that began later has seen what came since.
      guard state.number == number else {
        state.watched.formUnion(watched)
        return Set<Int32>()
      }
      defer { state.watched = watched }
      return state.watched.subtracting(watched)
    }
    // A file that was replaced, and lives on by another name.
    for watch in left { inotify_rm_watch(descriptor, watch) }
    return mayHide
  }
}
