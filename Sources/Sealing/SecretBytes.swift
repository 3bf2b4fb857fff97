import CSodium
import Glibc

/// Bytes in guarded memory: own pages between inaccessible ones, locked against swap where the limit allows it, left
/// out of core files, wiped at the end. Exactly one owner.
///
/// A few of these hold keys; they are too dear (four mappings each) for every token. Pages stay readable for life:
/// flipping their protection per use would race between threads.
package struct SecretBytes: ~Copyable, @unchecked Sendable {
  private let start: UnsafeMutableRawPointer
  /// Number of bytes, at least 1.
  package let count: Int
  /// Whether the kernel really locked the pages. False where RLIMIT_MEMLOCK is used up: report it.
  package let isLocked: Bool

  /// Pages for `count` bytes (1 to 64 KiB), filled by `fill`. When `fill` throws they are wiped at once.
  ///
  /// Throws `outOfRange`, `outOfMemory`, `libraryUnusable` and what `fill` throws.
  package init(
    count: Int, fill: (UnsafeMutableRawBufferPointer) throws(SealingError) -> Void
  ) throws(SealingError) {
    try Sodium.start()
    guard (1...65_536).contains(count) else { throw .outOfRange("length of a guarded secret") }
    guard let start = sodium_malloc(count) else { throw .outOfMemory }
    // sodium_malloc locks too, but ignores the answer; asking again gives it.
    let isLocked = sodium_mlock(start, count) == 0
    do throws(SealingError) {
      try fill(UnsafeMutableRawBufferPointer(start: start, count: count))
    } catch {
      sodium_free(start)
      throw error
    }
    self.start = start
    self.count = count
    self.isLocked = isLocked
  }

  /// Copies `bytes`; the caller wipes its own.
  package init(copying bytes: some Collection<UInt8>) throws(SealingError) {
    try self.init(count: bytes.count) { (target: UnsafeMutableRawBufferPointer) throws(SealingError) in
      target.copyBytes(from: bytes)
    }
  }

  /// `count` fresh random bytes; the copy on the way is wiped.
  package init(count: Int, random: any RandomSource) throws(SealingError) {
    try self.init(count: count) { (target: UnsafeMutableRawBufferPointer) throws(SealingError) in
      var bytes = random.bytes(count)
      defer { bytes.wipe() }
      guard bytes.count == count else { throw .outOfRange("bytes given by the random source") }
      target.copyBytes(from: bytes)
    }
  }

  deinit { sodium_free(start) }

  /// Lends the bytes for the length of `body`.
  package borrowing func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: start, count: count))
  }
}

extension Array where Element == UInt8 {
  /// Overwrites the bytes in place and empties the array. Other copies of the array keep theirs.
  package mutating func wipe() {
    withUnsafeMutableBytes { bytes in
      if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
    }
    removeAll()
  }
}
