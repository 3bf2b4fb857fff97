import AgentCore
import AgentWire
import Glibc

/// One caller's connection: cuts lines, answers what is ready at once, asks the responder for the rest, keeps the bounds.
/// Used on its loop only.
///
/// A caller that leaves cancels nothing: its requests run on, and their answers are dropped.
final class CallerConnection: DescriptorHandler {
  let caller: Caller
  let table: ConnectionTable
  let responder: any LineResponder
  /// When it came, or the last answer was taken.
  var lastActivity: LoopTime
  /// Told of events: never idle.
  var isSubscribed = false
  /// Of these the ones that wait for a token are `tokensAwaited`.
  var answersAwaited = 0
  var tokensAwaited = 0
  /// Those that wait in the table's block, behind the untaken ones.
  var answersInRound = 0
  var untaken = UnreadAnswers()
  /// Answers that are written when there is room for them.
  var parked: [TokenReply] = []
  /// The next request, while all connections together leave no room for it. Nothing behind it is looked at.
  var held: RequestLine?
  /// For requests of these kinds; see ``RequestShares``.
  var standsInLine: Set<RequestShares.Kind> = []
  var idsInUse: Set<RequestID> = []
  /// Requests that are given up when the caller leaves.
  var searches: [RequestID: Task<Void, Never>] = [:]
  var lineDeadline: LoopTime?
  var answerDeadline: LoopTime?
  var isTelling = false
  /// When the table looks after its deadlines next.
  var lookedAfter: LoopTime?
  /// What it takes of the bytes that all have in common.
  var bytesBeyond = 0
  /// Nothing more is read or answered than what is owed.
  private(set) var isFinishing = false

  /// The connected socket; -1 once it is closed.
  private(set) var descriptor: Int32
  private var framer: LineFramer
  private var interest: Interest = .reading
  /// Nothing was owed, begun or told when the caller was last looked after: a ready answer that it takes whole leaves
  /// everything as it is.
  var isQuiet = false
  private var isServing = false
  private var inputEnded = false
  /// Of those that are not answered at once; HTTP's are not.
  private var isFirstLine = true

  /// Owns `descriptor`, a connected socket that never blocks.
  init(caller: Caller, descriptor: Int32, responder: any LineResponder, table: ConnectionTable) {
    self.caller = caller
    self.descriptor = descriptor
    self.responder = responder
    self.table = table
    framer = LineFramer(limitBytes: table.limits.lineBytes)
    lastActivity = table.queue.now
  }

  var limits: ListenerLimits { table.limits }
  var now: LoopTime { table.queue.now }
  var isOpen: Bool { descriptor >= 0 }
  var isOwedAnAnswer: Bool { owed > 0 }

  /// As one that may go, to make room; nil while it is owed an answer or events.
  var evictionCandidate: EvictionOrder.Candidate? {
    guard !isOwedAnAnswer, !isSubscribed else { return nil }
    return EvictionOrder.Candidate(
      number: caller.connection, since: lineDeadline ?? lastActivity, hasUnfinishedLine: lineDeadline != nil)
  }

  private var owed: Int { answersAwaited + answersInRound + untaken.count + parked.count + (held == nil ? 0 : 1) }

  // MARK: Life

  /// Serves what the caller has sent already, then waits for more.
  func begin() {
    guard table.admit(self) else {
      refuse(nil, Refusals.tooManyConnections)
      flush()
      return drop()
    }
    guard table.queue.add(descriptor, interest, self) else { return drop() }
    if table.isQuiescing { isFinishing = true } else { readOnce() }
    settle()
  }

  func isReady(_ readiness: Interest) {
    if interest.contains(.reading) {
      if !readiness.isDisjoint(with: [.reading, .ended]) { readOnce() }
      // Mostly all is as it was.
      if isQuiet { return }
    } else if !readiness.isDisjoint(with: .ended) {
      // Nothing can be sent any more, and nothing is to be read.
      return drop()
    }
    settle()
  }

  /// Closes at once.
  func drop() {
    guard isOpen else { return }
    table.queue.close(descriptor)
    descriptor = -1
    isFinishing = true
    framer.wipe()
    held = nil
    untaken = UnreadAnswers()
    parked = []
    for search in searches.values { search.cancel() }
    searches = [:]
    responder.events.remove(caller.connection)
    table.remove(self)
  }

  /// Takes no further request; closes when the last answer that is owed has been taken.
  func finish() {
    isFinishing = true
    lineDeadline = nil
    framer.wipe()
    held = nil
  }

  /// Goes on with whatever can go on, then waits for the rest.
  func settle() {
    guard isOpen, !isServing else { return }
    // Mostly all is answered and taken.
    if !framer.isEmpty || !untaken.isEmpty || !parked.isEmpty { goOn() }
    if isSubscribed { tellEvents() }
    guard isOpen else { return }
    if isFinishing || inputEnded, !isOwedAnAnswer { return drop() }
    wait()
  }

  private func goOn() {
    flush()
    serve(UnsafeRawBufferPointer(start: nil, count: 0))
    // What holds lines back is not sent behind its back: with nothing left to be taken nobody would go on with them.
    if hasRoom { flush() }
  }

  private func wait() {
    table.count(self, unfinished: framer.byteCount, untaken: untaken.byteCount)
    var wanted: Interest = untaken.isEmpty ? [] : .writing
    // While too many answers are owed the kernel holds the caller back.
    if hasRoom, mayRead, !isFinishing, !inputEnded { wanted.formUnion(.reading) }
    if wanted != interest {
      interest = wanted
      table.queue.change(descriptor, to: wanted)
    }
    isQuiet = !isOwedAnAnswer && framer.isEmpty && !isSubscribed
    keepTime()
  }

  // MARK: Reading

  /// One read a turn: what is held in memory beyond the limits stays small, and nobody is served twice in a row. What is
  /// left is reported in the next turn.
  private func readOnce() {
    table.withInput { input in
      let count = recv(descriptor, input.baseAddress, input.count, Int32(MSG_DONTWAIT))
      if count > 0 {
        let incoming = UnsafeRawBufferPointer(rebasing: input[..<count])
        if isQuiet, answersAtOnce(incoming) { return count }
        isQuiet = false
        serve(incoming)
      } else if count == 0 {
        isQuiet = false
        inputEnded = true
      } else if errno != EAGAIN, errno != EINTR {
        drop()
      }
      return max(0, count)
    }
  }

  /// Whether it is what comes mostly: one request for a token that is ready.
  private func answersAtOnce(_ incoming: UnsafeRawBufferPointer) -> Bool {
    let end = incoming.count - 1
    guard end < limits.lineBytes, incoming[end] == UInt8(ascii: "\n") else { return false }
    // The spelling that is answered so holds no other line feed.
    return sendReadyAnswer(to: UnsafeRawBufferPointer(rebasing: incoming[..<end]))
  }

  /// Whether the next line may be looked at.
  private var hasRoom: Bool {
    if owed == 0 { return true }
    return held == nil && owed < limits.requestsInFlight && hasRoomForAnswer
  }

  /// Whether an answer may be written for a caller that has not taken the ones before it.
  var hasRoomForAnswer: Bool {
    parked.isEmpty && untaken.byteCount < (table.bytes.isUsedUp ? limits.ownBytes : limits.untakenBytes)
  }

  /// Whether more of a line may be kept that was begun.
  private var mayRead: Bool { !table.bytes.isUsedUp || framer.byteCount < limits.ownBytes }

  private func serve(_ incoming: UnsafeRawBufferPointer) {
    guard !isServing else { return }
    isServing = true
    defer { isServing = false }
    var rest = incoming
    // Mostly one whole line comes, and is served where it lies.
    while framer.isEmpty, hasRoom, !isFinishing, let line = LineFramer.cut(&rest, limitBytes: limits.lineBytes) {
      lineDeadline = nil
      handle(line)
    }
    guard !isFinishing else { return }
    if !rest.isEmpty { framer.append(rest) }
    while !framer.isEmpty, !isFinishing {
      if !hasRoom {
        // Taken answers make room at once; those that are not taken hold the rest back.
        table.roundAnswers.send()
        flush()
        guard hasRoom else { break }
        continue
      }
      switch framer.next() {
      case .line(let line):
        lineDeadline = nil
        line.withUnsafeBytes { handle($0) }
      case .incomplete:
        if lineDeadline == nil { lineDeadline = now + limits.lineTime }
        return
      case .tooLong:
        refuse(nil, Refusals.lineTooLong(limits.lineBytes))
        finish()
      }
    }
  }

  private func handle(_ line: UnsafeRawBufferPointer) {
    defer { isFirstLine = false }
    if sendReadyAnswer(to: line) { return }
    let bytes = Array(line)
    if isFirstLine, Refusals.isHTTP(bytes) {
      refuse(nil, Refusals.http)
      return finish()
    }
    guard bytes.last != UInt8(ascii: "\r") else { return refuse(nil, Refusals.carriageReturn) }
    do { ask(try RequestLine(bytes)) } catch { refuse(error.id, error.failure) }
  }

  // MARK: Deadlines

  /// The next moment at which something is overdue, if nothing happens before.
  var nextDeadline: LoopTime? {
    guard isOpen else { return nil }
    if let answerDeadline { return lineDeadline.map { min($0, answerDeadline) } ?? answerDeadline }
    if let lineDeadline { return lineDeadline }
    return isOwedAnAnswer || isSubscribed ? nil : lastActivity + limits.idleTime
  }

  func keepTime() {
    if let nextDeadline { table.lookAfter(self, at: nextDeadline) }
  }

  /// Since when it has held what it does not end or take; nil: it holds nothing of that.
  var holdsSince: LoopTime? {
    [lineDeadline.map { $0 - limits.lineTime }, answerDeadline.map { $0 - limits.answerTime }].compactMap(\.self).min()
  }

  /// Ends the connection when a deadline passed.
  func expire() {
    if let answerDeadline, answerDeadline <= now { return drop() }
    if let lineDeadline, lineDeadline <= now {
      // The rest of the line may have come: it is we who do not read.
      guard interest.contains(.reading) else { return self.lineDeadline = now + limits.lineTime }
      refuse(nil, Refusals.lineUnfinished(limits.lineTime))
      finish()
      return settle()
    }
    if let nextDeadline, nextDeadline <= now { drop() }
  }
}
