import AgentCore
import AgentWire
import Glibc

extension CallerConnection {
  // MARK: Answers of the responder

  /// False when the line is not the common spelling of a request for a token that is ready. A caller that is quiet stays
  /// so when it takes the whole answer.
  func sendReadyAnswer(to line: UnsafeRawBufferPointer) -> Bool {
    guard let request = TokenLine.scanRequest(line), isQuiet || !idsInUse.contains(request.id) else { return false }
    return responder.sendReadyAnswer(to: request, from: caller, at: table.now(of: responder)) { capacity, write in
      if isQuiet, table.sendsAtOnce, table.roundAnswers.lend(capacity, write, { take($0) }) { return }
      answersInRound += 1
      if !table.keepReadyAnswer(for: self, capacity, write) {
        answersInRound -= 1
        isQuiet = false
        send([UInt8](unsafeUninitializedCapacity: capacity) { $1 = write(UnsafeMutableRawBufferPointer($0)) })
      }
    }
  }

  func ask(_ request: RequestLine) {
    // Answered without the id: with it, the caller would take the refusal for the answer to the first request.
    guard idsInUse.insert(request.id).inserted else { return refuse(nil, Refusals.idInUse) }
    start(request, isNext: false)
  }

  /// Begins the request, or holds it back until all connections together leave room for it.
  private func start(_ request: RequestLine, isNext: Bool) {
    let kind = RequestShares.Kind(request.method)
    let count = kind == .token ? tokensAwaited : answersAwaited - tokensAwaited
    // A list is more than a connection's own bytes.
    let hasRoom = kind != .listing || !table.bytes.isUsedUp
    guard hasRoom, table.shares.begin(kind, having: count, isNext: isNext) else {
      held = request
      if standsInLine.insert(kind).inserted { table.shares.standInLine(self, for: kind) }
      return
    }
    answersAwaited += 1
    table.owed.change(by: 1)
    let bound = LoopBound(self, table.queue)
    let (loop, responder, caller) = (table.loop, responder, caller)
    if kind == .token {
      tokensAwaited += 1
      let id = request.id
      return responder.answerToken(request, from: caller) { reply in
        loop.execute { queue in bound.value(on: queue).deliver(reply, id: id, .token) }
      }
    }
    let task = Task {
      let answer = await responder.answer(to: request, from: caller)
      loop.execute { queue in
        let connection = bound.value(on: queue)
        // It may have asked for events just before it left.
        if request.method == .eventsSubscribe, connection.isOpen {
          connection.isSubscribed = responder.events.contains(caller.connection)
        }
        connection.deliver(.line(answer), id: request.id, kind)
      }
    }
    if request.method.isGivenUpWithItsCaller { searches[request.id] = task }
  }

  /// Its turn has come to begin the request that is held back. False: that still has to wait, at the same place.
  func takeTurn(_ kind: RequestShares.Kind) -> Bool {
    // What stood in line may have begun meanwhile, or left.
    guard isOpen, let request = held, RequestShares.Kind(request.method) == kind else {
      standsInLine.remove(kind)
      return true
    }
    if kind == .listing, table.bytes.isUsedUp { return false }
    standsInLine.remove(kind)
    held = nil
    start(request, isNext: true)
    settle()
    return true
  }

  private func deliver(_ reply: TokenReply, id: RequestID, _ kind: RequestShares.Kind) {
    table.owed.change(by: -1)
    answersAwaited -= 1
    if kind == .token { tokensAwaited -= 1 }
    idsInUse.remove(id)
    searches[id] = nil
    lastActivity = now
    if isOpen {
      give(reply)
      // It may have fewer under way now than are its own.
      if let request = held, RequestShares.Kind(request.method) == kind {
        held = nil
        start(request, isNext: false)
      }
      settle()
    } else {
      responder.events.remove(caller.connection)
    }
    table.shares.end(kind)
  }

  /// Writes the answer, or puts it behind those that wait until the caller takes what it has.
  private func give(_ reply: TokenReply) {
    guard case .token(let token, let number) = reply else {
      if case .line(let line) = reply { send(line) }
      return
    }
    guard hasRoomForAnswer else { return parked.append(reply) }
    let now = table.now(of: responder)
    func write(_ buffer: UnsafeMutableRawBufferPointer) -> Int { token.write(number, at: now, into: buffer) }
    if answersInRound == 0, untaken.isEmpty, table.roundAnswers.lend(token.capacity, write, { take($0) }) { return }
    send([UInt8](unsafeUninitializedCapacity: token.capacity) { $1 = write(UnsafeMutableRawBufferPointer($0)) })
  }

  /// Only to a caller that has taken everything else: what it does not take is kept once for all, not here.
  func tellEvents() {
    guard !isTelling else { return }
    isTelling = true
    defer { isTelling = false }
    while isSubscribed, !isFinishing, answersInRound == 0, untaken.isEmpty {
      let bound = LoopBound(self, table.queue)
      let loop = table.loop
      let line = responder.events.next(for: caller.connection) {
        loop.execute { queue in bound.value(on: queue).settle() }
      }
      guard let line else { return }
      send(line)
      flush()
    }
  }

  func refuse(_ id: RequestID?, _ failure: AgentFailure) { send(AnswerLine.failure(id, failure)) }

  // MARK: Sending

  /// Puts an answer behind those that wait. ``flush()`` sends it.
  private func send(_ answer: [UInt8]) {
    guard isOpen else { return }
    if answersInRound > 0 { table.roundAnswers.send() }
    answer.withUnsafeBytes { untaken.append($0) }
  }

  /// Sends an answer from the table's block; what the caller does not take at once waits here.
  func sendFromRound(_ answer: UnsafeRawBufferPointer) {
    // Those that were kept before the one that is kept now.
    if answersInRound > 0 { answersInRound -= 1 }
    guard isOpen else { return }
    if isQuiet || untaken.isEmpty { take(answer) } else { keep(answer) }
    if !isQuiet { settle() }
  }

  /// Sends an answer; what the caller does not take at once waits.
  private func take(_ answer: UnsafeRawBufferPointer) {
    guard let taken = offer(answer) else { return drop() }
    if taken == answer.count { return lastActivity = now }
    keep(UnsafeRawBufferPointer(rebasing: answer[taken...]))
  }

  /// Only a caller that reads too slowly is waited for.
  private func keep(_ rest: UnsafeRawBufferPointer) {
    isQuiet = false
    untaken.append(rest)
    if answerDeadline == nil { answerDeadline = now + limits.answerTime }
  }

  /// Sends what waits, as far as the caller takes it.
  func flush() {
    flushUntaken()
    while isOpen, untaken.isEmpty, !parked.isEmpty {
      // One after the other: what the caller does not take is not written.
      let next = parked
      parked = []
      for (index, reply) in next.enumerated() {
        guard isOpen, untaken.isEmpty else {
          parked = Array(next[index...])
          break
        }
        give(reply)
      }
    }
  }

  private func flushUntaken() {
    guard isOpen, !untaken.isEmpty else { return }
    guard let taken = untaken.withBytes({ offer($0) }) else { return drop() }
    if untaken.take(taken) {
      lastActivity = now
      answerDeadline = nil
    }
    if !untaken.isEmpty, answerDeadline == nil { answerDeadline = now + limits.answerTime }
  }

  /// How many of the bytes the caller took; nil when it is gone.
  private func offer(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard isOpen else { return nil }
    let taken = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    if taken >= 0 { return taken }
    return errno == EAGAIN || errno == EINTR ? 0 : nil
  }
}
