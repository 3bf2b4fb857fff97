import Glibc

/// A receiving buffer that never moves: bytes are appended in place, read in place and wiped in place, so that no copy
/// of a token is left behind by growth.
///
/// Its pages come from the kernel and go back there, untouched ones cost nothing. Not for sharing: one owner at a time.
package final class FetchBuffer {
  private let storage: UnsafeMutableRawBufferPointer
  /// Bytes received so far.
  package private(set) var count = 0

  /// Reserves `capacity` bytes of address space, at least one; nil when the kernel refuses.
  package init?(capacity: Int) {
    let length = max(capacity, 1)
    guard let start = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), start != MAP_FAILED
    else { return nil }
    // Best effort: an agent that is not dumpable writes no core in the first place.
    _ = madvise(start, length, MADV_DONTDUMP)
    storage = UnsafeMutableRawBufferPointer(start: start, count: length)
  }

  /// Bytes that still fit.
  package var room: Int { storage.count - count }

  /// Appends as much as one `read` of `descriptor` gives. Returns the number of bytes: 0 at the end of the file, nil on
  /// an error (errno is set) or when the buffer is full (errno is ENOBUFS).
  package func fill(from descriptor: Int32) -> Int? {
    guard room > 0, let start = storage.baseAddress else {
      errno = ENOBUFS
      return nil
    }
    let length = read(descriptor, start + count, min(room, 64 << 10))
    guard length >= 0 else { return nil }
    count += length
    return length
  }

  /// Appends `bytes`; false, and nothing is appended, when they do not fit.
  package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= room else { return false }
    if let source = bytes.baseAddress, let start = storage.baseAddress {
      (start + count).copyMemory(from: source, byteCount: bytes.count)
    }
    count += bytes.count
    return true
  }

  /// Lends the bytes received so far.
  package func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: storage.baseAddress, count: count))
  }

  /// Overwrites what was received and forgets it.
  package func wipe() {
    if let start = storage.baseAddress { explicit_bzero(start, count) }
    count = 0
  }

  deinit {
    wipe()
    munmap(storage.baseAddress, storage.count)
  }
}

/// Overwrites an encoded frame before its memory is given back. Works on the array's own storage only: keep one
/// reference.
package func wipe(_ bytes: inout [UInt8]) {
  bytes.withUnsafeMutableBytes { bytes in
    if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
  }
}
