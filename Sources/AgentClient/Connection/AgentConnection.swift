package import AgentWire
import Glibc

/// One connection to the agent, for one request at a time; blocking.
///
/// When the agent goes before it answered, it connects again and sends the request again, until the request's time is
/// over, if the method is repeatable (`Method.isRepeatable`). A killed agent's socket takes connections for some
/// milliseconds more, so several tries may find the one that is gone.
package final class AgentConnection {
  /// Milliseconds to wait for an answer when the caller names none: the agent's own deadline comes first.
  package static let defaultTimeoutMilliseconds = WireLimits.defaultTimeoutMilliseconds + 10_000

  /// Milliseconds between the first tries to find a new agent, which is there after some tens of them.
  private static let firstPauseMilliseconds = 10
  /// The longest pause, in milliseconds: nobody notices half a second after a wait of several.
  private static let lastPauseMilliseconds = 500
  /// How long nobody may listen where an agent was, before that is reported: a new agent starts in a tenth of it.
  private static let absenceMilliseconds = 2_000

  package let path: String
  private let reopen: () throws(ClientError) -> Descriptor
  /// Asked where systemd listens for an agent that takes no request.
  private let failingUnit: () -> FailingUnit?
  private var socket: Descriptor?
  private var lastID: Int64 = 0

  /// Connects to a running agent; starts none. Throws `notReachable`.
  package convenience init(to location: SocketLocation) throws(ClientError) {
    let connector = SocketConnector(location: location, uid: geteuid())
    try self.init(path: location.path) { () throws(ClientError) in
      do throws(SocketConnector.Refusal) {
        return try connector.open()
      } catch {
        throw AgentConnection.unreachable(location, error)
      }
    }
  }

  init(
    path: String, failingUnit: @escaping () -> FailingUnit? = { nil },
    open: @escaping () throws(ClientError) -> Descriptor
  ) throws(ClientError) {
    self.path = path
    self.failingUnit = failingUnit
    reopen = open
    socket = try open()
  }

  /// Sends a request and waits for its answer, at most `timeoutMilliseconds`.
  ///
  /// Throws `failure` with the agent's own answer, `timeout`, `protocolViolation`, or `notReachable`.
  package func call<P: RequestParameters>(
    _ parameters: P, timeoutMilliseconds: Int = defaultTimeoutMilliseconds
  ) throws(ClientError) -> P.Answer {
    lastID += 1
    let id = RequestID.number(lastID)
    let request = RequestEncoder.line(id: id, parameters)
    guard request.count <= WireLimits.requestBytes else {
      throw .failure(
        AgentFailure(
          .badRequest, "the request is longer than \(WireLimits.requestBytes) bytes", hint: "send less at once"))
    }
    let line = try exchange(
      request, P.method, timeoutMilliseconds: timeoutMilliseconds)
    do throws(ClientError) { return try Self.answer(line, to: id) } catch {
      // What comes after a line like that may be no answer to the next request either.
      if case .protocolViolation = error { socket = nil }
      throw error
    }
  }

  /// Reads the line that answers the request `id`. Throws `failure` with the agent's own answer, or `protocolViolation`.
  package static func answer<Answer: Decodable>(_ line: [UInt8], to id: RequestID) throws(ClientError) -> Answer {
    let answer: (id: RequestID?, result: Result<Answer, AgentFailure>)
    do { answer = try AnswerLine.parse(line, as: Answer.self) } catch { throw .protocolViolation(error.reason) }
    switch answer.result {
    // An agent that could not read the line answers without an id.
    case .failure(let failure) where answer.id == nil || answer.id == id: throw .failure(failure)
    case .success(let result) where answer.id == id: return result
    case .failure, .success: throw .protocolViolation("the answer belongs to another request")
    }
  }

  /// Sends a line of `TokenLine.printRequest` as it is, and returns the answer line without its line feed: for
  /// `TokenLine.scanAnswer`, and ``answer(_:to:)`` where that finds another spelling. No coder runs here.
  package func tokenAnswer(
    requestLine: [UInt8], timeoutMilliseconds: Int = defaultTimeoutMilliseconds
  ) throws(ClientError) -> [UInt8] {
    try exchange(requestLine, .tokenGet, timeoutMilliseconds: timeoutMilliseconds)
  }

  private func exchange(
    _ request: [UInt8], _ method: Method, timeoutMilliseconds: Int
  ) throws(ClientError) -> [UInt8] {
    try ClientTrace.timed(method.rawValue) { () throws(ClientError) in
      try exchanged(request, method, timeoutMilliseconds: timeoutMilliseconds)
    }
  }

  private func exchanged(
    _ request: [UInt8], _ method: Method, timeoutMilliseconds: Int
  ) throws(ClientError) -> [UInt8] {
    let deadline = Deadline(milliseconds: timeoutMilliseconds)
    // A connection that an earlier failure closed was never told this request: opening it again is no repetition.
    let first: Descriptor
    if let socket { first = socket } else { first = try reopen() }
    socket = first
    do throws(ClientError) {
      if let line = try run(request, method, on: first, until: deadline) { return line }
      socket = nil
      guard method.isRepeatable else {
        throw ClientError.notReachable(
          path: path, reason: "it went before it answered, so it is not known whether \(method.rawValue) was done",
          hint: "look first: oauthctl status")
      }
      return try repeated(request, method, until: deadline)
    } catch {
      // What may still come would be taken for the answer to the next request.
      socket = nil
      throw error
    }
  }

  private func run(
    _ request: [UInt8], _ method: Method, on socket: Descriptor, until deadline: Deadline
  ) throws(ClientError) -> [UInt8]? {
    var exchange = LineExchange(socket: socket, deadline: deadline)
    exchange.whenQuiet = { [self] quiet throws(ClientError) in
      try checkUnit(quiet)
      if quiet.isStopped, let process = quiet.process, method.isAnsweredAtOnce { throw .stopped(process: process) }
      if let remark = quiet.remark(isDue: method.isAnsweredAtOnce) { ClientTrace.warn?(remark, quiet.remedy) }
    }
    do { return try exchange.run(request) } catch {
      let quiet = UnresponsiveAgent(behind: socket)
      guard case .timeout(let milliseconds, _) = error else { throw error }
      try checkUnit(quiet)
      guard let process = quiet.process else { throw error }
      if quiet.isStopped { throw .stopped(process: process) }
      throw .timeout(milliseconds: milliseconds, hung: method.isAnsweredAtOnce ? process : nil)
    }
  }

  /// Throws where systemd listens for an agent that it cannot start: waiting for that is of no use.
  private func checkUnit(_ quiet: UnresponsiveAgent) throws(ClientError) {
    guard quiet.process == nil, !quiet.hasRead, let unit = failingUnit() else { return }
    throw .notReachable(path: path, reason: unit.reason, hint: unit.remedy)
  }

  /// The same request to the agent that comes after the one that went.
  private func repeated(_ request: [UInt8], _ method: Method, until deadline: Deadline) throws(ClientError) -> [UInt8] {
    var pause = Self.firstPauseMilliseconds
    let absence = Deadline(milliseconds: Self.absenceMilliseconds)
    while Int(deadline.remainingMilliseconds) > pause {
      usleep(UInt32(pause) * 1_000)
      pause = min(2 * pause, Self.lastPauseMilliseconds)
      ClientTrace.tell?("the agent went before it answered \(method.rawValue): asking the one that comes after it")
      do throws(ClientError) {
        let next = try reopen()
        socket = next
        if let line = try run(request, method, on: next, until: deadline) { return line }
      } catch {
        guard case .notReachable = error, absence.remainingMilliseconds > 0 else { throw error }
      }
      socket = nil
    }
    throw ClientError.notReachable(
      path: path, reason: "it went each time before it answered \(method.rawValue)",
      hint: .run("oauthctl agent log"))
  }

  static func unreachable(_ location: SocketLocation, _ refusal: SocketConnector.Refusal) -> ClientError {
    let path = PrintableText.escaped(location.path)
    switch refusal {
    case .nobody(let reason):
      let hint: NextStep =
        location.source == .environment
        ? "OAUTHCTL_SOCKET names this path: start the agent behind it, or unset OAUTHCTL_SOCKET"
        : "the next command that needs one starts it"
      return .notReachable(path: path, reason: reason, hint: hint, isAbsent: true)
    case .untrusted(let reason):
      return .notReachable(
        path: path, reason: reason,
        hint: location.source == .environment
          ? "nothing was sent; set OAUTHCTL_SOCKET to a socket in a folder of yours alone, or: unset OAUTHCTL_SOCKET"
          : "nothing was sent; make \(PrintableText.escaped(location.directory)) yours alone")
    case .closed(let remedy):
      return .notReachable(path: path, reason: "its mode keeps you out", hint: remedy)
    case .busy:
      return .notReachable(path: path, reason: "its queue is full", hint: "try again")
    case .noSocket(let reason):
      return .notReachable(
        path: path, reason: "this program gets no socket: \(reason)", hint: "once in a shell with more: ulimit -n")
    }
  }
}

extension Method {
  /// Whether the agent answers it out of what it has, asking no server and nobody's browser, and asking again does no harm.
  fileprivate var isAnsweredAtOnce: Bool {
    switch self {
    case .agentHello, .agentStatus, .accountList, .accountShow, .vaultStatus, .vaultSlots: true
    case .tokenGet, .tokenReject, .tokenID, .dpopProof, .loginStart, .loginWait, .loginComplete, .loginConfirm,
      .loginCancel, .serverFind, .clientRegister, .providerList, .providerShow, .accountCheck, .accountForget,
      .accountAccept, .accountImport, .configReload,
      .secretSet, .secretForget, .keySet, .logout, .vaultCreate, .vaultLock, .vaultUnlock, .vaultSetSlot,
      .vaultRemoveSlot, .vaultRekey, .vaultConfirmCode, .vaultBackup, .vaultCheck,
      .vaultAcceptRollback, .eventsSubscribe:
      false
    }
  }
}
