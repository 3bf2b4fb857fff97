import CLinux
import FetchWire
import Glibc
package import OAuthProtocol
import Sealing

/// HTTP by `oauthd-fetch`: a process for every request, so that server bytes are parsed where no key lives.
///
/// The process gets the request over a pipe, no environment, no other descriptor, and is ended when it has answered.
/// The thread that talks to it also starts and reaps it, for which it needs no descriptor beside the pipes.
package actor FetchProcess: HTTPTransport {
  private let helper: String
  private let userAgent: String
  private var slots: FetchSlots
  private var waiting: [FetchSlots.Ticket: CheckedContinuation<Bool, Never>] = [:]

  /// Time the helper has to report its own time-out before it is killed, in milliseconds.
  private static let graceMilliseconds = 1_000
  /// How long a request keeps others waiting for its place, in milliseconds: an answer usually takes less.
  private static let promptMilliseconds = 1_000

  /// Requests that run and have their place, by number.
  private var prompt: Set<UInt64> = []
  private var lastNumber: UInt64 = 0

  /// - Parameters:
  ///   - helper: absolute path of `oauthd-fetch`.
  ///   - userAgent: `User-Agent` of requests that bring none, as `oauthd/1.0`.
  ///   - concurrency: processes at once, at least 1, and three times as many that only wait for a slow server; further
  ///     requests wait, and that wait is not part of their time-out.
  package init(helper: String, userAgent: String, concurrency: Int = 8) {
    self.helper = helper
    self.userAgent = userAgent
    self.slots = FetchSlots(limit: concurrency)
  }

  /// The helper that was installed with `executable`: `oauthd-fetch` in the same folder.
  package static func beside(_ executable: String) -> String {
    guard let slash = executable.lastIndex(of: "/") else { return "oauthd-fetch" }
    return executable[...slash] + "oauthd-fetch"
  }

  /// Requests whose helper runs, and those that wait for a place.
  package var load: (running: Int, waiting: Int) { (slots.running.values.reduce(0, +), slots.waiting.count) }

  /// Sends `request` once. A cancelled task leaves the queue (`notSent`, `cancelled`); once the helper was started,
  /// cancellation changes nothing: the answer may carry a rotated refresh token.
  package func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    let head: FetchHead
    do {
      head = try FetchHead(FetchRequest(request, route: route, userAgent: userAgent), bodyBytes: request.body.count)
    } catch {
      return .notSent(HTTPFailure(.malformed, Self.explanation(error)))
    }
    let origin = FetchSlots.origin(of: request.url)
    guard await place(for: origin) else {
      return .notSent(HTTPFailure(.cancelled, "cancelled before it was sent"))
    }
    lastNumber += 1
    let number = lastNumber
    prompt.insert(number)
    let patience = Task {
      try await Task.sleep(for: .milliseconds(Self.promptMilliseconds))
      giveWay(number)
    }
    return await withCheckedContinuation { caller in
      // Without a parent: the caller's cancellation must not reach the process.
      Task.detached { [helper] in
        let tell: @Sendable (HTTPOutcome) -> Void = { caller.resume(returning: $0) }
        let limit = route.timeoutMilliseconds + Self.graceMilliseconds
        let isTold: Void? = await onOwnThread {
          Self.exchange(helper: helper, head: head, body: request.body, limit: limit, tell: tell)
        }
        if isTold == nil { tell(.notSent(HTTPFailure(.helper, "no thread left for a request"))) }
        patience.cancel()
        await self.ended(number, origin)
      }
    }
  }

  private func ended(_ number: UInt64, _ origin: String) {
    slots.release(origin, gaveWay: prompt.remove(number) == nil)
    startWaiting()
  }

  // MARK: Places

  private func place(for origin: String) async -> Bool {
    let ticket = slots.enqueue(origin)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting[ticket] = continuation
        if Task.isCancelled { return withdraw(ticket) }
        startWaiting()
      }
    } onCancel: {
      Task { await self.withdraw(ticket) }
    }
  }

  private func startWaiting() {
    for ticket in slots.admitted() { waiting.removeValue(forKey: ticket)?.resume(returning: true) }
  }

  private func giveWay(_ number: UInt64) {
    guard prompt.contains(number), slots.giveWay() else { return }
    prompt.remove(number)
    startWaiting()
  }

  private func withdraw(_ ticket: FetchSlots.Ticket) {
    guard slots.withdraw(ticket) else { return }
    waiting.removeValue(forKey: ticket)?.resume(returning: false)
  }

  // MARK: One exchange

  /// Calls `tell` once, and returns when the process is gone. An answer is told before the process is waited for: until
  /// it is saved, a kill loses what it carries. Blocks.
  private static func exchange(
    helper: String, head: FetchHead, body: Secret, limit: Int, tell: @Sendable (HTTPOutcome) -> Void
  ) {
    guard let pipes = FetchPipes() else {
      return tell(.notSent(HTTPFailure(.helper, "no file descriptors left for a request")))
    }
    var process: pid_t = 0
    let error = clinux_start_helper(helper, pipes.requestRead, pipes.answerWrite, &process)
    pipes.closeHelperEnds()
    guard error == 0 else {
      pipes.closeAgentEnds()
      return tell(
        .notSent(HTTPFailure(.helper, plainText("\(helper) could not be started; check the installation"))))
    }
    let kill: @Sendable () -> Void = { [process] in _ = Glibc.kill(process, SIGKILL) }
    switch FetchConversation(pipes: pipes, head: head, body: body, limitMilliseconds: limit, kill: kill).run() {
    case .outcome(let outcome):
      tell(outcome)
      kill()
      _ = reap(process)
    case .vanished(let sent):
      // A helper that closed its pipe is ending; a moment, and its status tells why.
      usleep(50_000)
      kill()
      let failure = HTTPFailure(.helper, "oauthd-fetch ended without an answer (\(reap(process)))")
      tell(sent ? .sentNoAnswer(failure) : .notSent(failure))
    }
  }

  /// How a process ended (wait(2)): the low seven bits are a signal, or 0 and the exit status stands above them.
  private static func reap(_ process: pid_t) -> String {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { return "status unknown" }
    }
    return status & 0x7F == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
  }

  private static func explanation(_ error: FetchWireError) -> String {
    switch error {
    case .invalid(let what): "the request cannot be sent: its \(what) is not allowed"
    case .frameTooLarge: "the request cannot be sent: it is too large"
    case .unexpectedFrame, .versionMismatch: "the request cannot be sent"
    }
  }
}
