import Glibc

/// The two pipes to one helper, close-on-exec, the agent's ends non-blocking. (That a process started between `pipe` and
/// `fcntl` could inherit them is harmless: every process the agent starts has all but its first three closed.)
struct FetchPipes: Sendable {
  /// The helper's descriptor 0, and the agent's end of it.
  var requestRead: Int32
  var requestWrite: Int32
  /// The agent's end of the helper's descriptor 1, and that.
  var answerRead: Int32
  var answerWrite: Int32

  /// Nil when the process has no descriptors left.
  init?() {
    var request: [Int32] = [-1, -1]
    var answer: [Int32] = [-1, -1]
    guard pipe(&request) == 0 else { return nil }
    guard pipe(&answer) == 0 else {
      request.forEach { _ = close($0) }
      return nil
    }
    (requestRead, requestWrite) = (request[0], request[1])
    (answerRead, answerWrite) = (answer[0], answer[1])
    for descriptor in request + answer { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    for descriptor in [requestWrite, answerRead] {
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
  }

  func closeHelperEnds() {
    close(requestRead)
    close(answerWrite)
  }

  func closeAgentEnds() {
    close(requestWrite)
    close(answerRead)
  }
}
