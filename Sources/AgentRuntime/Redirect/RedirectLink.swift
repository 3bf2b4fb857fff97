import CLinux
import FetchWire
import Glibc

/// The agent's end of the conversation with one `oauthd-redirect`, from its start to its end. Used on its loop only.
final class RedirectLink: DescriptorHandler {
  /// What is said about the process.
  enum Event {
    case report(RedirectReport)
    /// It has ended, and why; nothing comes after.
    case ended(String)
  }

  /// What may wait until the process reads it: one that reads nothing is broken.
  private static let unsentBytes = 1 << 20

  private let loop: ServingLoop
  private let queue: EventQueue
  private var descriptor: Int32 = -1
  /// The loop waits for the descriptor.
  private var isOpen = false
  private var process: pid_t?
  private var stream = RedirectStream<RedirectReport>()
  private var unsent: [UInt8] = []
  /// Why it was killed, when we did that.
  private var reason: String?
  private var tell: ((Event) -> Void)?

  /// Starts `helper` on `listener`. `tell` is called later, on the loop, and at last with `ended`.
  init(
    helper: String, listener: Int32, limits: RedirectLimits, certificate: RedirectCertificate? = nil,
    loop: ServingLoop, queue: EventQueue, tell: @escaping (Event) -> Void
  ) {
    self.loop = loop
    self.queue = queue
    self.tell = tell
    send(.begin(limits, certificate))
    start(helper, listener)
  }

  // MARK: Life

  /// A thread of its own starts the process and waits for its end: the kernel ends it together with that thread, and so
  /// with the agent, however that ends.
  private func start(_ helper: String, _ listener: Int32) {
    var ends: [Int32] = [-1, -1]
    // Until then the listener may have been closed.
    let listener = fcntl(listener, F_DUPFD_CLOEXEC, 0)
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard listener >= 0, socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
      if listener >= 0 { close(listener) }
      return endSoon("no file descriptors left for oauthd-redirect")
    }
    let (ours, theirs) = (ends[0], ends[1])
    descriptor = ours
    let (bound, loop) = (LoopBound(self, queue), loop)
    let isStarted = startThread(name: "redirect", stackBytes: 128 << 10) {
      let started: pid_t
      do throws(HelperProcess.StartFailure) {
        defer {
          close(theirs)
          close(listener)
        }
        started = try HelperProcess.start(helper, theirs, listener)
      } catch {
        let advice = error.mayPass ? "too many processes run just now, try again" : "check the installation"
        let text = plainText("\(helper) could not be started (\(error.reason)); \(advice)")
        return loop.execute { bound.value(on: $0).end(text) }
      }
      loop.execute { bound.value(on: $0).begin(started) }
      HelperProcess.wait(started)
      loop.execute { bound.value(on: $0).reap(started) }
    }
    guard !isStarted else { return }
    close(theirs)
    close(listener)
    endSoon("no thread left for oauthd-redirect")
  }

  private func begin(_ process: pid_t) {
    self.process = process
    isOpen = reason == nil && queue.add(descriptor, .reading, self)
    if isOpen { flush() } else { kill("the kernel cannot wait for oauthd-redirect") }
  }

  /// Ends the process, whatever it does.
  func kill(_ why: String) {
    reason = reason ?? why
    if let process { _ = Glibc.kill(process, SIGKILL) }
  }

  private func reap(_ process: pid_t) {
    self.process = nil
    // What it said last is still there to be read.
    while reason == nil, isOpen, read() {}
    let status = HelperProcess.reap(process)
    end(reason ?? "oauthd-redirect ended (\(status))")
  }

  private func endSoon(_ why: String) {
    let bound = LoopBound(self, queue)
    loop.execute { bound.value(on: $0).end(why) }
  }

  private func end(_ why: String) {
    closeDescriptor()
    unsent = []
    let tell = tell
    self.tell = nil
    tell?(.ended(why))
  }

  private func closeDescriptor() {
    if descriptor >= 0 { queue.close(descriptor) }
    (descriptor, isOpen) = (-1, false)
  }

  // MARK: Talking

  func send(_ order: RedirectOrder) {
    guard tell != nil, let frame = try? order.encoded() else { return }
    unsent += frame
    if isOpen { flush() }
  }

  func isReady(_ readiness: Interest) {
    if readiness.contains(.writing) { flush() }
    guard !readiness.isDisjoint(with: [.reading, .ended]) else { return }
    // One read a turn.
    guard !read() else { return }
    // It is of no use any more. That it has ended, its thread tells.
    closeDescriptor()
    if let process { _ = Glibc.kill(process, SIGKILL) }
  }

  private func flush() {
    while !unsent.isEmpty {
      let count = unsent.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      unsent.removeFirst(count)
    }
    // Not to keep what it held: a private key may have been in it.
    if unsent.isEmpty { unsent = [] }
    if unsent.count > Self.unsentBytes { kill("oauthd-redirect stopped reading") }
    queue.change(descriptor, to: unsent.isEmpty ? .reading : [.reading, .writing])
  }

  /// Takes what is there in one piece, and tells it. False at the end of the conversation.
  private func read() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
    guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) && process != nil }
    buffer.withUnsafeBytes { stream.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    do {
      while reason == nil, let report = try stream.next() {
        if case .failed(let text) = report { kill(text) } else { tell?(.report(report)) }
      }
    } catch { kill("oauthd-redirect sent a report that cannot be read; check the installation") }
    return true
  }
}
