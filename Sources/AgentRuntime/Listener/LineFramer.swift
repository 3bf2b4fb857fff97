import Glibc

/// Cuts a stream of bytes into lines. Only the line feed ends a line. It holds at most one read beyond the limit.
struct LineFramer {
  enum Step: Equatable {
    /// A line without its line feed.
    case line([UInt8])
    /// No whole line is there.
    case incomplete
    /// The line is longer than the limit. Where the next line begins is not known.
    case tooLong
  }

  private let limitBytes: Int
  private var held: [UInt8] = []
  /// Leading bytes of `held` that were cut off.
  private var cutBytes = 0
  /// Leading bytes of `held` known to hold no line feed, or one that was cut off.
  private var scannedBytes = 0

  /// `limitBytes` counts the line feed.
  init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// Whether bytes wait: a part of a line, or lines not asked for yet.
  var isEmpty: Bool { held.isEmpty }

  /// Bytes that wait.
  var byteCount: Int { held.count - cutBytes }

  /// Takes a copy of `incoming`.
  mutating func append(_ incoming: UnsafeRawBufferPointer) {
    if cutBytes > 0 {
      held.removeFirst(cutBytes)
      scannedBytes -= cutBytes
      cutBytes = 0
    }
    held.append(contentsOf: incoming)
  }

  mutating func next() -> Step {
    guard let lineFeed = held.withUnsafeBytes({ Self.lineFeed(in: $0, from: scannedBytes) }) else {
      scannedBytes = held.count
      return held.count - cutBytes < limitBytes ? .incomplete : .tooLong
    }
    guard lineFeed - cutBytes < limitBytes else { return .tooLong }
    let line = Array(held[cutBytes..<lineFeed])
    cutBytes = lineFeed + 1
    scannedBytes = cutBytes
    if cutBytes == held.count { wipe() }
    return .line(line)
  }

  /// Cuts the first line off `incoming`, where it lies; nil when that holds no whole line within the limit.
  static func cut(_ incoming: inout UnsafeRawBufferPointer, limitBytes: Int) -> UnsafeRawBufferPointer? {
    guard let lineFeed = Self.lineFeed(in: incoming, from: 0), lineFeed < limitBytes else { return nil }
    defer { incoming = UnsafeRawBufferPointer(rebasing: incoming[(lineFeed + 1)...]) }
    return UnsafeRawBufferPointer(rebasing: incoming[..<lineFeed])
  }

  /// Drops everything. Requests may carry secrets: the heap wipes what it takes back, so nothing is kept for later use.
  mutating func wipe() { self = LineFramer(limitBytes: limitBytes) }

  private static func lineFeed(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let base = bytes.baseAddress, start < bytes.count,
      let found = memchr(base + start, 0x0A, bytes.count - start)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }
}
