import FetchWire
import Glibc
import OAuthProtocol
import Sealing
import SystemFacts

/// The agent's half of one exchange with one helper: writes the request, reads until the answer, the end or until its
/// patience is over. Blocks; belongs on a thread of its own.
struct FetchConversation: Sendable {
  /// What is left when it ends.
  enum End: Sendable {
    case outcome(HTTPOutcome)
    /// The helper closed its pipe without a verdict.
    case vanished(sent: Bool)
  }

  let pipes: FetchPipes
  /// The frame of a private authority, which goes first; empty when the system's count.
  let authority: [UInt8]
  /// The frame of the client's certificate and key; nil: it shows none.
  let certificate: Secret?
  /// The encoded request up to its body.
  let head: FetchHead
  let body: Secret
  /// The helper's own time limit plus a grace: past it the helper is killed.
  let limitMilliseconds: Int
  let kill: @Sendable () -> Void

  /// After a kill the pipe must end; a process that outlives SIGKILL for this long is stuck in the kernel.
  static let killGraceMilliseconds = 2_000

  func run() -> End {
    guard let received = FetchBuffer(capacity: FetchLimits.answerStreamBytes) else {
      pipes.closeAgentEnds()
      return .outcome(.notSent(HTTPFailure(.helper, "no memory for an answer")))
    }
    var state = Progress(received: received)
    defer {
      if !state.written { close(pipes.requestWrite) }
      close(pipes.answerRead)
    }
    var patience = ExchangeTimeout(milliseconds: limitMilliseconds, .agent, at: BootClock.milliseconds())
    while true {
      var polled = [
        pollfd(fd: pipes.answerRead, events: Int16(POLLIN), revents: 0),
        pollfd(fd: state.written ? -1 : pipes.requestWrite, events: Int16(POLLOUT), revents: 0),
      ]
      _ = poll(&polled, 2, Int32(patience.nextWaitMilliseconds))
      patience.look(at: BootClock.milliseconds())
      if polled[1].revents != 0 { write(&state) }
      if polled[0].revents != 0, let end = read(&state) { return end }
      if patience.isOver { return late(&state) }
    }
  }

  private struct Progress {
    let received: FetchBuffer
    var reader = FetchEventReader()
    var authorityOffset = 0
    var certificateOffset = 0
    var headOffset = 0
    var bodyOffset = 0
    /// Whether the pipe for the request is closed.
    var written = false
  }

  /// Kills, then reads on to the end of the pipe: what the helper reported before it died is still in there, and
  /// decides whether the request counts as sent.
  private func late(_ state: inout Progress) -> End {
    kill()
    let failure = HTTPFailure(.timeout, "no answer within \(limitMilliseconds) ms")
    let graceEnd = BootClock.milliseconds() + Self.killGraceMilliseconds
    while BootClock.milliseconds() < graceEnd {
      var polled = pollfd(fd: pipes.answerRead, events: Int16(POLLIN), revents: 0)
      _ = poll(&polled, 1, 100)
      guard polled.revents != 0, let end = read(&state) else { continue }
      switch end {
      case .vanished(let sent): return .outcome(sent ? .sentNoAnswer(failure) : .notSent(failure))
      case .outcome: return end
      }
    }
    // After SIGKILL it runs no more, so it has not sent what it has not reported.
    return .outcome(state.reader.sent ? .sentNoAnswer(failure) : .notSent(failure))
  }

  private func write(_ state: inout Progress) {
    while true {
      let length: Int
      if state.authorityOffset < authority.count {
        length = authority.withUnsafeBytes { writeSome($0.dropFirst(state.authorityOffset)) }
        if length > 0 { state.authorityOffset += length }
      } else if let certificate, state.certificateOffset < certificate.count {
        length = certificate.withBytes { writeSome($0.dropFirst(state.certificateOffset)) }
        if length > 0 { state.certificateOffset += length }
      } else if state.headOffset < head.count {
        length = head.withBytes { writeSome($0.dropFirst(state.headOffset)) }
        if length > 0 { state.headOffset += length }
      } else if state.bodyOffset < body.count {
        length = body.withBytes { writeSome($0.dropFirst(state.bodyOffset)) }
        if length > 0 { state.bodyOffset += length }
      } else {
        return finishWriting(&state)
      }
      if length > 0 || errno == EINTR { continue }
      // A helper that reads no more has said why on its other pipe, or is dead.
      if errno != EAGAIN { finishWriting(&state) }
      return
    }
  }

  private func finishWriting(_ state: inout Progress) {
    close(pipes.requestWrite)
    state.written = true
  }

  private func writeSome(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    guard let start = bytes.baseAddress else { return 0 }
    return Glibc.write(pipes.requestWrite, start, bytes.count)
  }

  private func read(_ state: inout Progress) -> End? {
    while true {
      guard let length = state.received.fill(from: pipes.answerRead) else {
        if errno == EINTR { continue }
        if errno == EAGAIN { return nil }
        return .outcome(Self.unreadable)
      }
      if length == 0 { return .vanished(sent: state.reader.sent) }
      do {
        if let outcome = try outcome(&state) { return .outcome(outcome) }
      } catch {
        return .outcome(Self.unreadable)
      }
    }
  }

  /// A helper that breaks the format may have done anything: the cautious reading is that it sent the request.
  private static let unreadable = HTTPOutcome.sentNoAnswer(
    HTTPFailure(.installation, "oauthd-fetch did not answer in the expected format"))

  private func outcome(_ state: inout Progress) throws(FetchWireError) -> HTTPOutcome? {
    while true {
      let reader = state.reader
      var next = reader
      let event = try state.received.withBytes { (bytes) throws(FetchWireError) in try next.next(bytes) }
      state.reader = next
      switch event {
      case nil: return nil
      case .sent: continue
      case .failure(let failure):
        let failure = HTTPFailure(failure)
        // TLS hands nothing of a request on before it has taken the client's certificate.
        return state.reader.sent && failure.reason != .clientCertificate ? .sentNoAnswer(failure) : .notSent(failure)
      case .answer(let answer):
        let headers = answer.headers.map { HTTPField($0.name, $0.value) }
        let body = state.received.withBytes { Secret($0[answer.body]) }
        let told = HTTPAnswer(
          status: answer.status, headers: headers, body: body, isFromPublicAddress: answer.isFromPublicAddress)
        guard let cut = answer.cut else { return .answered(told) }
        var failure = HTTPFailure(cut)
        failure.cut = told
        return .sentNoAnswer(failure)
      }
    }
  }
}

extension HTTPFailure {
  /// The pipe's failure in the protocol's words; its text was made fit to show when it was read.
  init(_ failure: FetchFailure) {
    let reason: Reason =
      switch failure.reason {
      case .nameResolution: .nameResolution
      case .connection: .connection
      case .tls: .tls
      case .notTLS: .notTLS
      case .proxy: .proxy
      case .timeout: .timeout
      case .tooLarge: .tooLarge
      case .malformed: .malformed
      case .cancelled: .cancelled
      case .helper: .helper
      case .untrusted: .untrusted
      case .otherName: .otherName
      case .privateAddress: .privateAddress
      case .clientCertificate: .clientCertificate
      }
    self.init(reason, failure.text)
  }
}
