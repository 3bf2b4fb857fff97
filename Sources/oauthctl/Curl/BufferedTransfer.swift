import AgentWire
import Glibc
import HTTPTerms
import HelperFormats

/// Curl's output, held back until the status is known: a 401 that will be tried again must leave nothing on standard
/// output. Not more than `limit` bytes are ever held.
final class BufferedTransfer {
  /// Longest body of a 401 that is held: 1 MiB, since an error page has some KiB.
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
    /// For standard error; nil: curl's own.
    var errors: Int32?

    func closeAll() {
      for descriptor in [output, headers] + (errors.map { [$0] } ?? []) { close(descriptor) }
    }
  }

  private let origins: [Origin]
  private let dumpHeader: String?
  private let holdsErrors: Bool
  private let scheme: String
  private let isIdempotent: Bool
  /// With ``Outcome/passed``: whether it ended with a 401 behind an answer, so that a second request would do it all twice.
  private(set) var wasAnswered = false
  /// With ``Outcome/unauthorized``: the nonce that the next proof should hold, and whether the token is to stay the same.
  private(set) var nonce: String?
  private(set) var wantsNonce = false
  private var errorPipe: Int32 = -1
  private var heldErrors: [UInt8] = []
  private var outputPipe: Int32 = -1
  private var headersPipe: Int32 = -1
  private var held: [UInt8] = []
  private var headers: [UInt8] = []
  private var isHolding = true
  /// Whether something could not be written to standard output.
  private(set) var lostOutput = false
  private var headersSink: Int32 = -1
  /// See ``HeaderDump/neededScope``, of the last answer.
  private(set) var neededScope: [String]?

  /// - Parameters:
  ///   - origins: of the URLs. A new token does not cure a 401 from behind a redirect to elsewhere.
  ///   - dumpHeader: the user's own `-D`, which gets the headers of what is passed on.
  ///   - holdsErrors: whether standard error is held, too: with `--fail` curl says there that it got a 401.
  ///   - scheme: of the token, in lower case.
  ///   - isIdempotent: whether the request may be sent again although it was answered with a redirect.
  init(
    origins: [Origin], dumpHeader: String?, holdsErrors: Bool = false, scheme: String = "bearer",
    isIdempotent: Bool = true
  ) {
    self.scheme = scheme
    self.isIdempotent = isIdempotent
    self.origins = origins
    self.dumpHeader = dumpHeader
    self.holdsErrors = holdsErrors
  }

  deinit {
    for descriptor in [outputPipe, headersPipe, errorPipe] where descriptor >= 0 { close(descriptor) }
    if headersSink > STDERR_FILENO { close(headersSink) }
  }

  /// - Throws: `CommandError` where there are no pipes, or the file for the headers cannot be written.
  func open() throws(CommandError) -> Ends {
    try openHeadersFile()
    var pipes: [[Int32]] = []
    for _ in 0..<(holdsErrors ? 3 : 2) {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else {
        let reason = FileBytes.errorText()
        for end in pipes.joined() { close(end) }
        throw .local("the system gives no pipe: \(reason)", status: 125)
      }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      pipes.append(ends)
    }
    outputPipe = pipes[0][0]
    headersPipe = pipes[1][0]
    if holdsErrors { errorPipe = pipes[2][0] }
    return Ends(output: pipes[0][1], headers: pipes[1][1], errors: holdsErrors ? pipes[2][1] : nil)
  }

  /// Takes everything curl writes, to its end.
  func pump() -> Outcome {
    while outputPipe >= 0 || headersPipe >= 0 || errorPipe >= 0 {
      var waiting = [
        pollfd(fd: headersPipe, events: Int16(POLLIN), revents: 0),
        pollfd(fd: outputPipe, events: Int16(POLLIN), revents: 0),
        pollfd(fd: errorPipe, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waiting, 3, -1) > 0 else { continue }
      // Headers first: they say what the body is.
      if waiting[0].revents != 0 {
        takeHeaders()
      } else if waiting[1].revents != 0 {
        takeOutput()
      } else if waiting[2].revents != 0 {
        takeErrors()
      }
    }
    if isHolding, let head = HeaderDump(headers, from: origins), head.isRejection(scheme) {
      guard isIdempotent || !head.hasAnswered else {
        wasAnswered = true
        release()
        return .passed
      }
      if scheme == "dpop" { (nonce, wantsNonce) = (head.nextNonce, head.wantsNonce) }
      return .unauthorized
    }
    release()
    return .passed
  }

  /// Passes on what is held, and from then on everything.
  func release() {
    guard isHolding else { return }
    isHolding = false
    neededScope = HeaderDump(headers, from: origins)?.neededScope
    passHeaders(headers)
    pass(held)
    FileBytes.writeAll(heldErrors, to: STDERR_FILENO)
    headers = []
    held = []
    heldErrors = []
  }

  private func takeErrors() {
    guard let some = FileBytes.readSome(from: errorPipe, limit: 16 << 10), !some.isEmpty else {
      close(errorPipe)
      errorPipe = -1
      return
    }
    guard isHolding, heldErrors.count + some.count <= HeaderDump.limit else {
      FileBytes.writeAll(heldErrors + some, to: STDERR_FILENO)
      heldErrors = []
      return
    }
    heldErrors += some
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
    if headers.count > HeaderDump.limit || HeaderDump(headers, from: origins)?.isSettled == true { release() }
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

  /// Before anything is sent, as curl does.
  private func openHeadersFile() throws(CommandError) {
    guard let dumpHeader else { return }
    headersSink =
      dumpHeader == "-"
      ? STDOUT_FILENO : Glibc.open(dumpHeader, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard headersSink < 0 else { return }
    throw .local(
      "cannot write \(dumpHeader), which is to have the headers: \(FileBytes.errorText()); nothing is sent",
      next: "name a file that can be written with --dump-header", status: 125)
  }

  private func passHeaders(_ bytes: [UInt8]) {
    if headersSink >= 0 { FileBytes.writeAll(bytes, to: headersSink) }
  }
}
