import Glibc

/// The configuration files as they were seen last, to be compared with: for changes that the kernel tells nobody who watches
/// them. A file behind a link may be written elsewhere; a link on the way may be turned.
struct FilesSeen: Equatable {
  /// Hashes of what each file is and when it was changed, by that of its path: of ten thousand files they take little.
  private var files: [Int: Int] = [:]

  /// Looks at `config.toml` and the account files in `folder`. What does not answer is taken for what it was `before`.
  init(_ folder: ConfigurationFolder, before: FilesSeen?, _ attempt: ReadingAttempt) {
    var paths: [String] = []
    do throws(TrustedFile.Failure) {
      // A folder that answers tells that not all of its file system hangs.
      try attempt.reach(folder.path)
      try attempt.reach(folder.accountsFolder)
      try attempt.at(folder.accountsFolder) { folder.forEachFile { paths.append($0) } }
    } catch {
      files = before?.files ?? [:]
      return
    }
    for path in [folder.accountsFolder] + paths {
      let found: Int?
      do throws(TrustedFile.Failure) { found = try attempt.at(path) { Self.look(at: path) } } catch {
        found = before?.files[path.hashValue]
      }
      files[path.hashValue] = found
    }
  }

  /// nil: there is nothing, or it cannot be looked at.
  private static func look(at path: String) -> Int? {
    var found = stat()
    guard stat(path, &found) == 0 else { return nil }
    var hasher = Hasher()
    for number in [UInt64(found.st_dev), UInt64(found.st_ino), UInt64(found.st_mode), UInt64(found.st_uid)] {
      hasher.combine(number)
    }
    let times = [found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_ctim.tv_sec, found.st_ctim.tv_nsec]
    for number in [Int(found.st_size)] + times { hasher.combine(number) }
    return hasher.finalize()
  }
}
