import Glibc
import Synchronization

/// Where log lines end.
protocol LogSink: Sendable {
  /// Writes, and may wait as long as it takes; called by one thread at a time. Returns how many of the bytes were taken,
  /// and why not all.
  func write(_ bytes: [UInt8]) -> (count: Int, problem: String?)
}

/// Log lines on their way to a sink that may hang: a full pipe, a terminal that stands still, a disk that is gone. They are
/// written by a thread of their own, which is there while there are lines, since whoever logs may be the thread that
/// serves everybody. What finds no room in the queue, or in the sink, is lost; how many lines were is told with the next.
final class LogLines: Sendable {
  /// Bytes of lines that wait: some hundred lines, while a disk hangs for a moment.
  static let queueBytes = 64 << 10
  /// A message has 2,048 characters at most (`LineOutput`), some of several bytes.
  static let greatestLine = 4_096

  private struct Line {
    var bytes: [UInt8]
    /// How many are lost with it: one, or as many as it tells of.
    var count: Int
  }

  private struct State {
    var waiting: [Line] = []
    var waitingBytes = 0
    var lost = 0
    var isWriting = false
    var problem: String?

    /// Adds a line, after one that tells how many were lost; nil: only that one.
    mutating func add(_ line: String?) {
      var lines: [Line] = []
      if lost > 0 { lines.append(Line(bytes: LogLines.bounded(LogLines.notice(lost)), count: lost)) }
      if let line { lines.append(Line(bytes: LogLines.bounded(line), count: 1)) }
      let bytes = lines.reduce(0) { $0 + $1.bytes.count }
      guard waitingBytes + bytes <= LogLines.queueBytes else { return lost += line == nil ? 0 : 1 }
      waiting += lines
      waitingBytes += bytes
      lost = 0
    }

    /// What waits; nil, and the thread ends, when nothing does.
    mutating func take() -> [Line]? {
      isWriting = !waiting.isEmpty
      guard isWriting else { return nil }
      defer { (waiting, waitingBytes) = ([], 0) }
      return waiting
    }
  }

  private let sink: any LogSink
  private let state = Mutex(State())

  init(_ sink: any LogSink) { self.sink = sink }

  /// Why the last lines were not written; nil: they were. Whoever asks has it tried again, for the next who asks.
  var problem: String? {
    let problem = state.withLock { $0.problem }
    if problem != nil { write(nil) }
    return problem
  }

  /// Nothing waits, and nothing is being written.
  var isIdle: Bool { state.withLock { !$0.isWriting } }

  /// `line` ends with a line feed; nil: what was lost is told.
  func write(_ line: String?) {
    let mustStart = state.withLock { state in
      state.add(line)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    // Without a thread they wait for the next line.
    if mustStart, !startThread(name: "log", stackBytes: 128 << 10, { self.drain() }) {
      state.withLock { $0.isWriting = false }
    }
  }

  private func drain() {
    while let lines = state.withLock({ $0.take() }) {
      let (count, problem) = sink.write(lines.flatMap(\.bytes))
      var end = 0
      let lost = lines.reduce(0) { lost, line in
        end += line.bytes.count
        return end <= count ? lost : lost + line.count
      }
      state.withLock { state in
        state.lost += lost
        state.problem = problem
      }
    }
  }

  /// Waits until all lines are written, so long at most: for the end of the process.
  func finish(within longest: Duration) async {
    let end = ContinuousClock.now + longest
    while !isIdle, ContinuousClock.now < end {
      try? await Task.sleep(for: .milliseconds(1))
    }
  }

  static func notice(_ count: Int) -> String {
    LineOutput.line("warning: \(count) line\(count == 1 ? " was" : "s were") lost here")
  }

  private static func bounded(_ line: String) -> [UInt8] {
    var bytes = Array(line.utf8.prefix(greatestLine))
    if bytes.count == greatestLine { bytes[bytes.count - 1] = UInt8(ascii: "\n") }
    return bytes
  }
}

/// Standard error, whatever that is.
struct DescriptorSink: LogSink {
  let descriptor: Int32

  func write(_ bytes: [UInt8]) -> (count: Int, problem: String?) { Self.write(bytes, to: descriptor) }

  static func write(_ bytes: [UInt8], to descriptor: Int32) -> (count: Int, problem: String?) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { all in
        let rest = UnsafeRawBufferPointer(rebasing: all[done...])
        return Glibc.write(descriptor, rest.baseAddress, rest.count)
      }
      if count > 0 {
        done += count
      } else if count < 0, errno == EAGAIN {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&request, 1, -1)
      } else if count == 0 || errno != EINTR {
        return (done, String(cString: strerror(errno)))
      }
    }
    return (done, nil)
  }
}
