import Glibc

/// Ready answers on their way, one behind the other in a block, and sent from there some at a time. Used on its loop only.
///
/// Sent one by one, each would wake its caller, and the kernel's ways of reading and of sending would push each other out
/// of the processor's caches: on a busy socket that costs as much as all else of an answer.
final class AnswerBatch {
  /// Answers of more than this together are sent in parts: some forty with a token of 1,200 characters.
  static let blockBytes = 65_536

  let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockBytes, alignment: 64)
  private var usedBytes = 0
  private var parts: [(connection: CallerConnection, range: Range<Int>)] = []
  private var isSending = false

  deinit {
    wipe()
    block.deallocate()
  }

  var isEmpty: Bool { parts.isEmpty }

  /// Keeps what `write` writes, `capacity` bytes at most, for `connection`. False when it cannot be kept.
  func add(
    for connection: CallerConnection, _ capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Bool {
    if block.count - usedBytes < capacity { send() }
    guard !isSending, capacity <= block.count else { return false }
    let start = usedBytes
    usedBytes += write(UnsafeMutableRawBufferPointer(rebasing: block[start..<start + capacity]))
    parts.append((connection, start..<usedBytes))
    return true
  }

  /// Lends the block to one answer that leaves at once: what `write` writes, `capacity` bytes at most, is given to `body`.
  /// False while it is in use, or too small.
  func lend(
    _ capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int, _ body: (UnsafeRawBufferPointer) -> Void
  ) -> Bool {
    guard usedBytes == 0, capacity <= block.count else { return false }
    usedBytes = write(UnsafeMutableRawBufferPointer(rebasing: block[..<capacity]))
    body(UnsafeRawBufferPointer(rebasing: block[..<usedBytes]))
    wipe()
    return true
  }

  /// Sends everything, in the order it came.
  func send() {
    guard !isSending, !parts.isEmpty else { return }
    isSending = true
    for part in parts { part.connection.sendFromRound(UnsafeRawBufferPointer(rebasing: block[part.range])) }
    parts.removeAll(keepingCapacity: true)
    wipe()
    isSending = false
  }

  private func wipe() {
    if let start = block.baseAddress { explicit_bzero(start, usedBytes) }
    usedBytes = 0
  }
}
