import Glibc

/// An open file, closed at the end of its life.
struct FileDescriptor: ~Copyable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }

  /// What fstat says, or nil.
  borrowing func status() -> stat? {
    var status = stat()
    return fstat(number, &status) == 0 ? status : nil
  }

  /// fsync. False with errno set.
  borrowing func flush() -> Bool { fsync(number) == 0 }

  /// Writes every byte at `offset`. False with errno set.
  borrowing func write(_ bytes: [UInt8], at offset: Int) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { all in
        let rest = UnsafeRawBufferPointer(rebasing: all[done...])
        return pwrite(number, rest.baseAddress, rest.count, off_t(offset + done))
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// The first `count` bytes, fewer at the end of the file. Nil with errno set.
  borrowing func read(count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let found = bytes.withUnsafeMutableBytes { pread(number, $0.baseAddress, count, 0) }
    return found < 0 ? nil : Array(bytes.prefix(found))
  }

  /// Reads from the start to the end, at most `limit` bytes. Nil with errno set; EFBIG when there is more.
  borrowing func readAll(limit: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var done = 0
    while done <= limit {
      let count = bytes.withUnsafeMutableBytes { all in
        let rest = UnsafeMutableRawBufferPointer(rebasing: all[done...])
        return pread(number, rest.baseAddress, rest.count, off_t(done))
      }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { break }
      done += count
    }
    guard done <= limit else {
      errno = EFBIG
      return nil
    }
    bytes.removeLast(bytes.count - done)
    return bytes
  }
}

extension VaultError {
  /// `storageFailed`, or `noRoom`, with the text of errno, read at once.
  static func system(_ operation: String, _ path: String) -> VaultError {
    let code = errno
    let text = "\(operation) \(path): \(String(cString: strerror(code)))"
    let isFull = code == ENOSPC || code == EDQUOT
    return isFull ? .noRoom(folder: PrivateDirectory.parent(of: path), text) : .storageFailed(text)
  }
}
