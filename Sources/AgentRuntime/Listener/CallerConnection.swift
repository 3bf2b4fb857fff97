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
  var answersAwaited = 0
  /// Those that wait in the table's block, behind the untaken ones.
  var answersInRound = 0
  var untaken = UntakenAnswers()
  var idsInUse: Set<RequestID> = []
  var lineDeadline: LoopTime?
  var answerDeadline: LoopTime?
  var isTelling = false
  /// Nothing more is read or answered than what is owed.
  private(set) var isFinishing = false

  /// The connected socket; -1 once it is closed.
  private(set) var descriptor: Int32
  private var framer: LineFramer
  private var interest: Interest = [.changes, .reading, .inputEnd]
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
  var isOwedAnAnswer: Bool { answersAwaited + answersInRound + untaken.count > 0 }
  var hasUnfinishedLine: Bool { lineDeadline != nil }

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
      if !readiness.isDisjoint(with: [.reading, .inputEnd, .ended]) {
        let isFull = readOnce()
        // The end, or what one read did not take, is not told of by itself.
        if isFull || !readiness.isDisjoint(with: [.inputEnd, .ended]), isOpen, !inputEnded {
          table.queue.change(descriptor, to: interest)
        }
      }
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
    untaken = UntakenAnswers()
    responder.events.remove(caller.connection)
    table.remove(self)
  }

  /// Takes no further request; closes when the last answer that is owed has been taken.
  func finish() {
    isFinishing = true
    lineDeadline = nil
    framer.wipe()
  }

  /// Goes on with whatever can go on, then waits for the rest.
  func settle() {
    guard isOpen, !isServing else { return }
    // Mostly all is answered and taken.
    if !framer.isEmpty || !untaken.isEmpty { goOn() }
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
    var wanted: Interest = untaken.isEmpty ? .changes : [.changes, .writing]
    // While too many answers are owed the kernel holds the caller back.
    if hasRoom, !isFinishing, !inputEnded { wanted.formUnion([.reading, .inputEnd]) }
    if wanted != interest {
      interest = wanted
      table.queue.change(descriptor, to: wanted)
    }
    isQuiet = !isOwedAnAnswer && framer.isEmpty && !isSubscribed
    keepTime()
  }

  // MARK: Reading

  /// One read a turn: what is held in memory beyond the limits stays small, and nobody is served twice in a row. True when
  /// there may be more.
  @discardableResult
  private func readOnce() -> Bool {
    var isFull = false
    table.withInput { input in
      let count = recv(descriptor, input.baseAddress, input.count, Int32(MSG_DONTWAIT))
      isFull = count == input.count
      if count > 0 {
        let incoming = UnsafeRawBufferPointer(rebasing: input[..<count])
        if isQuiet, answersAtOnce(incoming) { return count }
        isQuiet = false
        serve(incoming)
      } else if count == 0 {
        isQuiet = false
        inputEnded = true
      } else if errno == EINTR {
        isFull = true
      } else if errno != EAGAIN {
        drop()
      }
      return max(0, count)
    }
    return isFull
  }

  /// Whether it is what comes mostly: one request for a token that is ready.
  private func answersAtOnce(_ incoming: UnsafeRawBufferPointer) -> Bool {
    let end = incoming.count - 1
    guard end < limits.lineBytes, incoming[end] == UInt8(ascii: "\n") else { return false }
    // The spelling that is answered so holds no other line feed.
    return sendReadyAnswer(to: UnsafeRawBufferPointer(rebasing: incoming[..<end]))
  }

  private var hasRoom: Bool {
    let owed = answersAwaited + answersInRound + untaken.count
    return owed == 0 || owed < limits.requestsInFlight && untaken.byteCount < limits.untakenBytes
  }

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
    if let nextDeadline { table.wake(at: nextDeadline) }
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
