import Glibc
import NIOCore

/// The ready answers of one round of the event loop, one behind the other in a block, and sent from there when the round
/// is over. Used on its event loop only.
///
/// Nearly every answer is taken whole: a buffer, a promise and the way through the pipeline would cost as much as all
/// else. What a caller does not take at once goes that way.
final class RoundAnswers {
  /// Answers of more than this in one round are sent in parts.
  static let blockBytes = 65_536

  let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockBytes, alignment: 64)
  private var usedBytes = 0
  private var parts: [(connection: ConnectionHandler, range: Range<Int>)] = []
  private var isSending = false

  deinit {
    wipe()
    block.deallocate()
  }

  /// Keeps what `write` writes, `capacity` bytes at most, for `connection`. False when it cannot be kept.
  func add(
    for connection: ConnectionHandler, _ capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Bool {
    guard !isSending, capacity <= block.count else { return false }
    if block.count - usedBytes < capacity { send(now: connection.now) }
    guard connection.hasNothingInChannel else { return false }
    let start = usedBytes
    usedBytes += write(UnsafeMutableRawBufferPointer(rebasing: block[start..<start + capacity]))
    if let last = parts.last, last.connection === connection {
      parts[parts.count - 1].range = last.range.lowerBound..<usedBytes
    } else {
      parts.append((connection, start..<usedBytes))
    }
    return true
  }

  /// Sends everything, in the order it came.
  func send(now: NIODeadline) {
    guard !isSending, !parts.isEmpty else { return }
    isSending = true
    for (connection, range) in parts {
      connection.sendFromRound(UnsafeRawBufferPointer(rebasing: block[range]), now: now)
    }
    parts.removeAll(keepingCapacity: true)
    wipe()
    isSending = false
  }

  private func wipe() {
    if let start = block.baseAddress { explicit_bzero(start, usedBytes) }
    usedBytes = 0
  }
}
