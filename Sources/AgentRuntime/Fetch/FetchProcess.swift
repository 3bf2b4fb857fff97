import CLinux
import FetchWire
import Glibc
package import OAuthProtocol
import Sealing
import Synchronization

/// HTTP by `oauthd-fetch`: a process for every request, so that server bytes are parsed where no key of the vault's lives.
///
/// The process gets the request over a pipe, no environment, no other descriptor, and is ended when it has answered.
/// The thread that talks to it also starts and reaps it, for which it needs no descriptor beside the pipes.
/// How many run at once is decided before a request comes here (`RequestQueue`): each is started at once.
package final class FetchProcess: HTTPTransport {
  private let helper: String
  private let userAgent: String
  private let authorities: AuthorityFiles
  private let count = Atomic<Int>(0)

  /// Time the helper has to report its own time-out before it is killed, in milliseconds.
  private static let graceMilliseconds = 1_000
  /// Milliseconds after its time at which a helper is gone, whatever it does.
  static let overtimeMilliseconds = graceMilliseconds + FetchConversation.killGraceMilliseconds

  /// - Parameters:
  ///   - helper: absolute path of `oauthd-fetch`.
  ///   - userAgent: `User-Agent` of requests that bring none, as `oauthd/1.0`.
  ///   - uid: whose a private authority may be, beside root's; this process's when nil.
  package init(helper: String, userAgent: String, uid: UInt32? = nil) {
    authorities = AuthorityFiles(uid: uid ?? getuid())
    self.helper = helper
    self.userAgent = userAgent
  }

  /// Requests whose helper runs.
  package var runningCount: Int { count.load(ordering: .relaxed) }

  /// Sends `request` once. Cancelling changes nothing: the answer may carry a rotated refresh token.
  package func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    let head: FetchHead
    let authority: [UInt8]
    let certificate: Secret?
    do {
      authority =
        if let named = route.authority {
          try FetchRequest.encoded(authority: try await authorities.content(named).get())
        } else { [] }
      certificate = try request.certificate?.frame()
      head = try FetchHead(FetchRequest(request, route: route, userAgent: userAgent), bodyBytes: request.body.count)
    } catch let failure as HTTPFailure {
      return .notSent(failure)
    } catch {
      return .notSent(HTTPFailure(.malformed, Self.explanation(error)))
    }
    count.add(1, ordering: .relaxed)
    return await withCheckedContinuation { caller in
      // Without a parent: the caller's cancellation must not reach the process.
      Task.detached { [self] in
        let tell: @Sendable (HTTPOutcome) -> Void = { caller.resume(returning: $0) }
        let limit = route.timeoutMilliseconds + Self.graceMilliseconds
        let isTold: Void? = await onOwnThread { [helper, authority, certificate] in
          Self.exchange(
            helper: helper, authority: authority, certificate: certificate, head: head, body: request.body,
            limit: limit,
            tell: tell)
        }
        if isTold == nil { tell(.notSent(HTTPFailure(.helper, "no thread left for a request"))) }
        count.subtract(1, ordering: .relaxed)
      }
    }
  }

  // MARK: One exchange

  /// Calls `tell` once, and returns when the process is gone. An answer is told before the process is waited for: until
  /// it is saved, a kill loses what it carries. Blocks.
  private static func exchange(
    helper: String, authority: [UInt8], certificate: Secret?, head: FetchHead, body: Secret, limit: Int,
    tell: @Sendable (HTTPOutcome) -> Void
  ) {
    guard let pipes = FetchPipes() else {
      return tell(.notSent(HTTPFailure(.helper, "no file descriptors left for a request")))
    }
    let process: pid_t
    do throws(HelperProcess.StartFailure) {
      defer { pipes.closeHelperEnds() }
      process = try HelperProcess.start(helper, pipes.requestRead, pipes.answerWrite)
    } catch {
      pipes.closeAgentEnds()
      return tell(
        .notSent(
          HTTPFailure(
            error.mayPass ? .helper : .installation, plainText("\(helper) cannot be started: \(error.reason)"))))
    }
    let kill: @Sendable () -> Void = { [process] in _ = Glibc.kill(process, SIGKILL) }
    switch FetchConversation(
      pipes: pipes, authority: authority, certificate: certificate, head: head, body: body, limitMilliseconds: limit,
      kill: kill
    ).run() {
    case .outcome(let outcome):
      tell(outcome)
      kill()
      _ = HelperProcess.reap(process)
    case .vanished(let sent):
      // A helper that closed its pipe is ending; a moment, and its status tells why.
      usleep(50_000)
      kill()
      let end = HelperProcess.reap(process)
      // Ours says why before it ends, and only a signal keeps it from that.
      let wasKilled = if case .killed = end { true } else { false }
      let isOurs = sent || wasKilled
      let failure = HTTPFailure(
        isOurs ? .helper : .installation, plainText("\(helper) ended without an answer (\(end))"))
      tell(sent ? .sentNoAnswer(failure) : .notSent(failure))
    }
  }

  private static func explanation(_ error: any Error) -> String {
    guard let error = error as? FetchWireError else { return "the request cannot be sent" }
    return switch error {
    case .invalid(let what): "the request cannot be sent: its \(what) is not allowed"
    case .frameTooLarge: "the request cannot be sent: it is too large"
    case .unexpectedFrame, .versionMismatch: "the request cannot be sent"
    }
  }
}
