import FetchWire
import Glibc

/// Writes to the pipe back to the agent.
enum Report {
  /// The `sent` stage. False when the agent is gone; then nothing may be sent.
  static func sent() -> Bool {
    guard let frame = try? FetchFrame.header(.sent, length: 0) else { return false }
    return frame.withUnsafeBytes(write)
  }

  static func failure(_ failure: FetchFailure) {
    guard let frame = try? failure.encoded() else { return }
    _ = frame.withUnsafeBytes(write)
  }

  /// `cut`: why a part of it may be missing.
  static func answer(
    status: Int, isFromPublicAddress: Bool, headers: [FetchField], body: FetchBuffer, cut: FetchFailure? = nil
  ) {
    do {
      var head = try FetchAnswer.encoded(
        status: status, isFromPublicAddress: isFromPublicAddress, headers: headers, bodyBytes: body.count)
      let isTold = try cut?.encoded(as: .answerCut).withUnsafeBytes(write) ?? true
      _ = isTold && head.withUnsafeBytes(write) && body.withBytes(write)
      wipe(&head)
    } catch {
      failure(cut ?? FetchFailure(.malformed, "the server's answer has a head that cannot be passed on"))
    }
  }

  /// Whether the agent has closed its end: no byte will ever be read.
  static var isAbandoned: Bool {
    var output = pollfd(fd: 1, events: 0, revents: 0)
    return poll(&output, 1, 0) > 0 && output.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
  }

  private static func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
      let length = Glibc.write(1, start, rest.count)
      if length < 0 {
        if errno == EINTR { continue }
        return false
      }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(length))
    }
    return true
  }
}
