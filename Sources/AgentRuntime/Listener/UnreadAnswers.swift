/// Answers on their way to one caller that it has not taken yet, one behind the other.
struct UnreadAnswers {
  private(set) var bytes: [UInt8] = []
  /// Of these the leading ones that were taken.
  private var takenBytes = 0
  /// Where each answer ends in `bytes`; the first is not taken whole.
  private var ends: [Int] = []

  /// Answers not taken whole.
  var count: Int { ends.count }
  var isEmpty: Bool { ends.isEmpty }
  var byteCount: Int { bytes.count - takenBytes }

  mutating func append(_ answer: UnsafeRawBufferPointer) {
    // A caller that never takes all would keep everything it ever took in memory.
    if takenBytes > byteCount {
      bytes.removeFirst(takenBytes)
      for index in ends.indices { ends[index] -= takenBytes }
      takenBytes = 0
    }
    bytes.append(contentsOf: answer)
    ends.append(bytes.count)
  }

  /// Lends what is to be sent next.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[takenBytes...])) }
  }

  /// The caller took `count` bytes more. Returns whether it has an answer whole that it had not before.
  mutating func take(_ count: Int) -> Bool {
    takenBytes += count
    let whole = ends.count { $0 <= takenBytes }
    ends.removeFirst(whole)
    // Nothing is kept for later use: the heap wipes what it takes back.
    if ends.isEmpty { self = UnreadAnswers() }
    return whole > 0
  }
}
