import AgentCore
import AgentWire
import Glibc
import NIOCore

/// One caller's connection: cuts lines, answers what is ready on the event loop, asks the responder for the rest, keeps
/// the bounds. Used on its event loop only.
///
/// A caller that leaves cancels nothing: its requests run on, and their answers are wiped.
final class ConnectionHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let caller: Caller
  /// When it came, or the last answer was taken.
  private(set) var lastActivity: NIODeadline

  private let responder: any LineResponder
  private let table: ConnectionTable
  private let limits: ListenerLimits
  /// The connected socket, as long as there is a context.
  private let descriptor: NIOBSDSocket.Handle?
  private var context: ChannelHandlerContext?
  private var framer: LineFramer
  private var idsInUse: Set<RequestID> = []
  private var answersAwaited = 0
  private var answersUntaken = 0
  /// Of these the ones that wait for the end of the round in the table's block; then the channel holds none.
  private var answersInRound = 0
  private var lineDeadline: NIODeadline?
  private var answerDeadline: NIODeadline?
  private var readIsHeld = false
  private var isProcessing = false
  private var hasUnflushedAnswers = false
  private var inputEnded = false
  /// Nothing more is read or answered than what is owed.
  private var isFinishing = false
  private var hasBegun = false
  /// Told of events: never idle.
  private(set) var isSubscribed = false
  private var isTelling = false
  private var isFirstLine = true

  /// `descriptor` is the channel's connected socket; without it every answer goes through the pipeline.
  init(
    caller: Caller, responder: any LineResponder, table: ConnectionTable, descriptor: NIOBSDSocket.Handle? = nil
  ) {
    self.caller = caller
    self.responder = responder
    self.table = table
    self.descriptor = descriptor
    limits = table.limits
    framer = LineFramer(limitBytes: table.limits.lineBytes)
    lastActivity = table.eventLoop.now
  }

  var isOwedAnAnswer: Bool { answersAwaited + answersUntaken > 0 }
  var hasUnfinishedLine: Bool { lineDeadline != nil }
  /// What the channel holds has to leave before anything else.
  var hasNothingInChannel: Bool { answersUntaken == answersInRound }
  var now: NIODeadline { table.eventLoop.now }

  /// The next moment at which something is overdue, if nothing happens before.
  var nextDeadline: NIODeadline? {
    guard context != nil else { return nil }
    if let answerDeadline { return lineDeadline.map { min($0, answerDeadline) } ?? answerDeadline }
    if let lineDeadline { return lineDeadline }
    return isOwedAnAnswer || isSubscribed ? nil : lastActivity + limits.idleTime
  }

  // MARK: Life

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { begin() }
  }

  func channelActive(context: ChannelHandlerContext) {
    begin()
    context.fireChannelActive()
  }

  private func begin() {
    guard !hasBegun else { return }
    hasBegun = true
    lastActivity = now
    guard table.admit(self) else {
      refuse(nil, Refusals.tooManyConnections)
      finish()
      flush()
      return
    }
    if table.isQuiescing { finish() }
    keepTime()
  }

  func channelInactive(context: ChannelHandlerContext) {
    leave()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { leave() }

  private func leave() {
    context = nil
    isFinishing = true
    framer.wipe()
    responder.events.remove(caller.connection)
    table.remove(self)
  }

  /// The caller is gone, or broke the connection.
  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// Closes at once.
  func drop() { context?.close(promise: nil) }

  /// Takes no further request; closes when the last answer that is owed has been taken.
  func finish() {
    isFinishing = true
    lineDeadline = nil
    framer.wipe()
    closeIfDone()
  }

  private func closeIfDone() {
    guard !isOwedAnAnswer, isFinishing || (inputEnded && !isProcessing) else { return }
    context?.close(promise: nil)
  }

  // MARK: Reading

  /// Held while too many answers are owed: the kernel then holds the caller back.
  func read(context: ChannelHandlerContext) {
    if hasRoom && !isFinishing { context.read() } else { readIsHeld = true }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let incoming = unwrapInboundIn(data)
    guard !isFinishing else { return WipedBuffers.wipeReadable(incoming) }
    framer.append(incoming)
    process()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if hasUnflushedAnswers { table.flushSoon(self) } else { keepTime() }
  }

  /// Sends what the round of the event loop that is now over has answered.
  func endRound() {
    flush()
    keepTime()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event {
      inputEnded = true
      process()
      flush()
      closeIfDone()
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    resume()
    context.fireChannelWritabilityChanged()
  }

  private var hasRoom: Bool {
    !isOwedAnAnswer
      || answersAwaited + answersUntaken < limits.requestsInFlight && context?.channel.isWritable == true
  }

  private func process() {
    guard !isProcessing else { return }
    isProcessing = true
    defer { isProcessing = false }
    while !framer.isEmpty, !isFinishing, context != nil {
      guard hasRoom else {
        // Taken answers make room at once; those that are not taken hold the rest back.
        guard hasUnflushedAnswers || answersInRound > 0 else { break }
        flush()
        continue
      }
      switch framer.next() {
      case .line(let line):
        lineDeadline = nil
        handle(line)
        WipedBuffers.wipeReadable(line)
      case .incomplete:
        if lineDeadline == nil { lineDeadline = now + limits.lineTime }
        return
      case .tooLong:
        refuse(nil, Refusals.lineTooLong(limits.lineBytes))
        finish()
      }
    }
  }

  private func handle(_ line: ByteBuffer) {
    if sendReadyAnswer(to: line) {
      isFirstLine = false
      return
    }
    var bytes = Array(line.readableBytesView)
    defer { WipedBuffers.wipe(&bytes) }
    if isFirstLine, Refusals.isHTTP(bytes) {
      refuse(nil, Refusals.http)
      return finish()
    }
    isFirstLine = false
    guard bytes.last != UInt8(ascii: "\r") else { return refuse(nil, Refusals.carriageReturn) }
    do {
      ask(try RequestLine(bytes))
    } catch {
      refuse(error.id, error.failure)
    }
  }

  /// False when the line is not the common spelling of a request for a token that is ready.
  private func sendReadyAnswer(to line: ByteBuffer) -> Bool {
    guard let request = line.withUnsafeReadableBytes({ TokenLine.scanRequest($0) }),
      idsInUse.isEmpty || !idsInUse.contains(request.id)
    else { return false }
    return responder.sendReadyAnswer(to: request, from: caller) { capacity, write in
      if descriptor != nil, table.keepReadyAnswer(for: self, capacity, write) {
        answersUntaken += 1
        answersInRound += 1
        return
      }
      var answer = ByteBufferAllocator().buffer(capacity: capacity)
      answer.writeWithUnsafeMutableBytes(minimumWritableBytes: capacity, write)
      send(answer)
    }
  }

  private func ask(_ request: RequestLine) {
    // Answered without the id: with it, the caller would take the refusal for the answer to the first request.
    guard idsInUse.insert(request.id).inserted else { return refuse(nil, Refusals.idInUse) }
    answersAwaited += 1
    let bound = NIOLoopBound(self, eventLoop: table.eventLoop)
    let (eventLoop, responder, caller) = (table.eventLoop, responder, caller)
    Task {
      var answer = await responder.answer(to: request, from: caller)
      let buffer = WipedBuffers.take(&answer)
      eventLoop.execute { bound.value.deliver(buffer, for: request) }
    }
  }

  // MARK: Answering

  private func deliver(_ answer: ByteBuffer, for request: RequestLine) {
    answersAwaited -= 1
    idsInUse.remove(request.id)
    lastActivity = now
    guard context != nil else {
      responder.events.remove(caller.connection)
      return WipedBuffers.wipeReadable(answer)
    }
    send(answer)
    if request.method == .eventsSubscribe { isSubscribed = responder.events.contains(caller.connection) }
    flush()
    resume()
  }

  /// Only to a caller that has taken everything else: what it does not take is kept once for all, not here.
  private func tellEvents() {
    guard !isTelling else { return }
    isTelling = true
    defer { isTelling = false }
    while isSubscribed, !isFinishing, answersUntaken == 0, context?.channel.isWritable == true {
      let bound = NIOLoopBound(self, eventLoop: table.eventLoop)
      let eventLoop = table.eventLoop
      let line = responder.events.next(for: caller.connection) { eventLoop.execute { bound.value.resume() } }
      guard var line else { return }
      send(WipedBuffers.take(&line))
      flush()
    }
  }

  private func refuse(_ id: RequestID?, _ failure: AgentFailure) {
    var answer = AnswerLine.failure(id, failure)
    send(WipedBuffers.take(&answer))
  }

  /// Sends the answers of this round from where they lie; what the caller does not take at once, through the channel.
  func sendFromRound(_ answers: UnsafeRawBufferPointer, now: NIODeadline) {
    answersUntaken -= answersInRound
    answersInRound = 0
    guard context != nil, let descriptor else { return }
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    let taken = answersUntaken > 0 ? 0 : Glibc.send(descriptor, answers.baseAddress, answers.count, flags)
    if taken == answers.count {
      answersWereTaken(now)
      return keepTime()
    }
    // Only a caller that reads too slowly is waited for.
    guard taken >= 0 || errno == EAGAIN else { return drop() }
    var rest = ByteBufferAllocator().buffer(capacity: answers.count)
    rest.writeBytes(answers[max(taken, 0)...])
    send(rest)
    flush()
  }

  private func send(_ answer: ByteBuffer) {
    guard let context else { return WipedBuffers.wipeReadable(answer) }
    if answersInRound > 0 { table.sendReadyAnswers() }
    answersUntaken += 1
    hasUnflushedAnswers = true
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { result in
      WipedBuffers.wipeReadable(answer)
      self.answerEnded(taken: (try? result.get()) != nil)
    }
    context.write(wrapOutboundOut(answer), promise: promise)
  }

  private func answerEnded(taken: Bool) {
    answersUntaken -= 1
    if taken { answersWereTaken(now) } else { lastActivity = now }
  }

  private func answersWereTaken(_ now: NIODeadline) {
    lastActivity = now
    answerDeadline = answersUntaken == 0 ? nil : now + limits.answerTime
    // Most connections have nothing that was held back.
    if !isProcessing, readIsHeld || inputEnded || isFinishing || isSubscribed || !framer.isEmpty { resume() }
  }

  private func flush() {
    if answersInRound > 0 { table.sendReadyAnswers() }
    guard hasUnflushedAnswers else { return }
    hasUnflushedAnswers = false
    context?.flush()
    if answersUntaken > 0, answerDeadline == nil { answerDeadline = now + limits.answerTime }
  }

  /// Goes on with what was held back.
  private func resume() {
    tellEvents()
    process()
    flush()
    if readIsHeld, hasRoom, !isFinishing, let context {
      readIsHeld = false
      context.read()
    }
    keepTime()
    closeIfDone()
  }

  // MARK: Deadlines

  private func keepTime() {
    if let nextDeadline { table.wake(at: nextDeadline) }
  }

  /// Ends the connection when a deadline passed.
  func expire(now: NIODeadline) {
    if let answerDeadline, answerDeadline <= now { return drop() }
    if let lineDeadline, lineDeadline <= now {
      // The rest of the line may have come: it is we who do not read.
      guard !readIsHeld else { return self.lineDeadline = now + limits.lineTime }
      refuse(nil, Refusals.lineUnfinished(limits.lineTime))
      finish()
      return flush()
    }
    if let nextDeadline, nextDeadline <= now { drop() }
  }
}
