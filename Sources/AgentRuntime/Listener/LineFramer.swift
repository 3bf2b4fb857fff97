import Glibc
import NIOCore

/// Cuts a stream of bytes into lines. Only the line feed ends a line. It holds at most one read beyond the limit, and
/// wipes what it drops: requests may carry secrets.
struct LineFramer {
  enum Step {
    /// A line without its line feed. The receiver wipes it.
    case line(ByteBuffer)
    /// No whole line is there.
    case incomplete
    /// The line is longer than the limit. Nothing after it can be told apart.
    case tooLong
  }

  private let limitBytes: Int
  private let allocator = ByteBufferAllocator()
  private var buffer: ByteBuffer?
  /// Leading bytes of `buffer` known to hold no line feed.
  private var scannedBytes = 0

  /// `limitBytes` counts the line feed.
  init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// Whether bytes wait: a part of a line, or lines not asked for yet.
  var isEmpty: Bool { buffer == nil }

  /// Takes over `incoming`.
  mutating func append(_ incoming: ByteBuffer) {
    guard incoming.readableBytes > 0 else { return }
    guard var held = buffer else {
      buffer = incoming
      return
    }
    if held.writableBytes < incoming.readableBytes {
      // Grown by hand: a buffer that grows by itself frees its old bytes unwiped.
      var larger = allocator.buffer(capacity: 2 * (held.readableBytes + incoming.readableBytes))
      larger.writeImmutableBuffer(held)
      WipedBuffers.wipeReadable(held)
      held = larger
    }
    buffer = nil  // so that `held` is the only reference and is written in place
    held.writeImmutableBuffer(incoming)
    WipedBuffers.wipeReadable(incoming)
    buffer = held
  }

  mutating func next() -> Step {
    guard var held = buffer else { return .incomplete }
    let lineFeed = held.withUnsafeReadableBytes { bytes -> Int? in
      guard let start = bytes.baseAddress, scannedBytes < bytes.count,
        let found = memchr(start + scannedBytes, 0x0A, bytes.count - scannedBytes)
      else { return nil }
      return UnsafeRawPointer(found) - start
    }
    guard let lineFeed else {
      scannedBytes = held.readableBytes
      return held.readableBytes < limitBytes ? .incomplete : .tooLong
    }
    guard lineFeed < limitBytes, let line = held.readSlice(length: lineFeed) else { return .tooLong }
    held.moveReaderIndex(forwardBy: 1)
    scannedBytes = 0
    buffer = held.readableBytes == 0 ? nil : held
    return .line(line)
  }

  /// Drops everything.
  mutating func wipe() {
    if let buffer { WipedBuffers.wipeReadable(buffer) }
    buffer = nil
    scannedBytes = 0
  }
}
