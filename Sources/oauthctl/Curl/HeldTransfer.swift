import Glibc
import HelperFormats

/// Curl's output, held back until the status is known: a 401 that will be tried again must leave nothing on standard
/// output. Not more than `limit` bytes are ever held.
final class HeldTransfer {
  /// Longest body of a 401 that is held: 1 MiB.
  static let limit = 1 << 20

  enum Outcome: Equatable {
    /// Everything was passed on.
    case passed
    /// It ended with a 401 that a new token may cure; the body is still held.
    case unauthorized
  }

  /// Descriptors for curl to write to; they are the caller's to close.
  struct Ends {
    var output: Int32
    var headers: Int32
  }

  private let dumpHeader: String?
  private var outputPipe: Int32 = -1
  private var headersPipe: Int32 = -1
  private var held: [UInt8] = []
  private var headers: [UInt8] = []
  private var isHolding = true
  /// Whether something could not be written to standard output.
  private(set) var lostOutput = false
  private var headersSink: Int32 = -1

  /// - Parameter dumpHeader: the user's own `-D`, which gets the headers of what is passed on.
  init(dumpHeader: String?) { self.dumpHeader = dumpHeader }

  deinit {
    for descriptor in [outputPipe, headersPipe] where descriptor >= 0 { close(descriptor) }
    if headersSink > STDERR_FILENO { close(headersSink) }
  }

  func open() -> Ends? {
    var output: [Int32] = [-1, -1]
    var headers: [Int32] = [-1, -1]
    guard pipe(&output) == 0 else { return nil }
    guard pipe(&headers) == 0 else {
      close(output[0])
      close(output[1])
      return nil
    }
    for end in output + headers { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    outputPipe = output[0]
    headersPipe = headers[0]
    return Ends(output: output[1], headers: headers[1])
  }

  /// Takes everything curl writes, to its end.
  func pump() -> Outcome {
    while outputPipe >= 0 || headersPipe >= 0 {
      var waiting = [
        pollfd(fd: headersPipe, events: Int16(POLLIN), revents: 0),
        pollfd(fd: outputPipe, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waiting, 2, -1) > 0 else { continue }
      // Headers first: they say what the body is.
      if waiting[0].revents != 0 { takeHeaders() } else if waiting[1].revents != 0 { takeOutput() }
    }
    if isHolding, let head = HeaderDump(headers), Self.mayBeCuredByNewToken(head) { return .unauthorized }
    release()
    return .passed
  }

  /// Passes on what is held, and from then on everything.
  func release() {
    guard isHolding else { return }
    isHolding = false
    passHeaders(headers)
    pass(held)
    headers = []
    held = []
  }

  private func takeHeaders() {
    guard let some = FileBytes.readSome(from: headersPipe, limit: 16 << 10), !some.isEmpty else {
      close(headersPipe)
      headersPipe = -1
      return
    }
    guard isHolding else {
      passHeaders(some)
      return
    }
    headers += some
    if headers.count > HeaderDump.limit || HeaderDump(headers).map(Self.isSettled) == true { release() }
  }

  /// Whether the body that follows is to be passed on at once: not that of a redirect that curl may follow, nor of a
  /// 401.
  static func isSettled(_ head: HeaderDump) -> Bool {
    guard head.isWhole, head.status != 401 else { return false }
    return !(300...399).contains(head.status) || !head.fields.contains { $0.name == "location" }
  }

  /// Many servers send a 401 without any challenge, though RFC 9110 §11.6.1 wants one: it says nothing against a try.
  static func mayBeCuredByNewToken(_ head: HeaderDump) -> Bool {
    head.status == 401 && (head.challenges.isEmpty || head.asksForNewToken)
  }

  private func takeOutput() {
    guard let some = FileBytes.readSome(from: outputPipe, limit: 64 << 10), !some.isEmpty else {
      close(outputPipe)
      outputPipe = -1
      return
    }
    guard isHolding else {
      pass(some)
      return
    }
    held += some
    if held.count > Self.limit { release() }
  }

  private func pass(_ bytes: [UInt8]) {
    if FileBytes.writeAll(bytes, to: STDOUT_FILENO) { return }
    // Curl finds out when it writes next, if it does.
    lostOutput = true
    if outputPipe >= 0 { close(outputPipe) }
    outputPipe = -1
  }

  private func passHeaders(_ bytes: [UInt8]) {
    guard let dumpHeader else { return }
    if headersSink < 0 {
      headersSink =
        dumpHeader == "-"
        ? STDOUT_FILENO : Glibc.open(dumpHeader, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    }
    if headersSink >= 0 { FileBytes.writeAll(bytes, to: headersSink) }
  }
}
