import AgentCore
import AgentWire
import Glibc
import Sealing
import Synchronization
import Testing

@testable import AgentRuntime

/// Answers by the account's name: `ready` at once on the event loop, everything else when the test says so.
final class ScriptedResponder: LineResponder {
  private struct State {
    var ready: [UInt8] = Array("ready\n".utf8)
    var waiting: [(id: RequestID, continuation: CheckedContinuation<[UInt8], Never>)] = []
    var answered: [RequestID: [UInt8]] = [:]
    var asked: [RequestID] = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var answersAll = false
    var token: ReadyToken?
    var readyCount = 0
  }
  private let state = Mutex(State())
  let events = EventFeed()

  private let onReady: @Sendable () -> Void

  /// With `answersAll` nothing waits for the test. `onReady` is called before each ready answer is made.
  init(answersAll: Bool = false, onReady: @escaping @Sendable () -> Void = {}) {
    self.onReady = onReady
    state.withLock { $0.answersAll = answersAll }
  }

  /// What a request for a ready token is answered with.
  func setReady(_ line: String) { state.withLock { $0.ready = Array(line.utf8) } }

  func now() -> Moment { Moment(bootID: "boot", bootSeconds: 1, wallSeconds: 1) }

  func sendReadyAnswer(
    to request: TokenLine.Request, from caller: Caller, at now: Moment,
    _ send: (_ capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Void
  ) -> Bool {
    guard request.account == "ready" else { return false }
    onReady()
    let ready = state.withLock { state in
      state.readyCount += 1
      return state.ready
    }
    send(ready.count + 7) { buffer in
      buffer.copyBytes(from: ready)
      return ready.count
    }
    return true
  }

  func answerToken(
    _ request: RequestLine, from caller: Caller, _ reply: @escaping @Sendable (TokenReply) -> Void
  ) {
    Task {
      let line = await answer(to: request, from: caller)
      if let token = state.withLock({ $0.token }), case .number(let id) = request.id {
        reply(.token(ReadyAnswer(token: token), id))
      } else {
        reply(.line(line))
      }
    }
  }

  /// What waits for a token gets this one.
  func setToken(_ token: String) {
    let frame = TokenAnswerFrame(tokenType: "Bearer", scope: [], account: "slow", accountID: "0", fingerprint: "f")
    let ready = ReadyToken(
      accessToken: Secret(token), frame: frame, endBootSeconds: nil, defaultMinimumValidity: 0)
    state.withLock { $0.token = ready }
  }

  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Returns when `count` requests have been asked.
  func waitForAsked(_ count: Int) async {
    while asked.count < count { await Task.yield() }
  }

  func answer(to request: RequestLine, from caller: Caller) async -> [UInt8] {
    if request.method == .eventsSubscribe { _ = events.add(caller.connection) }
    let now: [UInt8]? = state.withLock { state in
      state.asked.append(request.id)
      return state.answersAll ? Array("\(request.id.text)\n".utf8) : nil
    }
    if let now { return now }
    return await withCheckedContinuation { continuation in
      let woken = state.withLock { state in
        state.waiting.append((request.id, continuation))
        let count = state.waiting.count
        let woken = state.watchers.filter { $0.count <= count }
        state.watchers.removeAll { $0.count <= count }
        return woken
      }
      for watcher in woken { watcher.continuation.resume() }
    }
  }

  /// Ready answers made so far.
  var readyCount: Int { state.withLock { $0.readyCount } }
  var asked: [RequestID] { state.withLock { $0.asked } }

  /// Returns when `count` requests wait for an answer.
  func waitForWaiting(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.waiting.count >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Answers one waiting request, or all of them, with `line` or else with their ids.
  func release(_ id: RequestID? = nil, with line: String? = nil) {
    let released = state.withLock { state in
      let released = state.waiting.filter { id == nil || $0.id == id }
      state.waiting.removeAll { id == nil || $0.id == id }
      return released
    }
    for one in released { one.continuation.resume(returning: Array((line ?? "\(one.id.text)\n").utf8)) }
  }
}

extension RequestID {
  var text: String {
    switch self {
    case .number(let number): String(number)
    case .string(let text): text
    }
  }
}

/// One connection over a real socket, in a loop whose time the test moves.
struct TestConnection: Sendable {
  let loop: TestLoop
  /// The caller.
  let far: FarEnd
  let near: Int32
  let connection: LoopBound<CallerConnection>

  /// Through a narrow one hardly anything is taken that the caller does not read.
  init(
    _ responder: any LineResponder, table: LoopBound<ConnectionTable>, on loop: TestLoop, number: UInt64 = 1,
    isNarrow: Bool = false
  ) async throws {
    self.loop = loop
    let (near, far) = try FarEnd.pair(isNarrow: isNarrow)
    (self.near, self.far) = (near, far)
    connection = await loop.turn { queue in
      let connection = CallerConnection(
        caller: Caller(uid: 1, connection: number), descriptor: near, responder: responder,
        table: table.value(on: queue))
      connection.begin()
      return LoopBound(connection, queue)
    }
  }

  static func table(
    on loop: TestLoop, limits: ListenerLimits = ListenerLimits(), crowdLeft: @escaping @Sendable () -> Void = {}
  ) async -> LoopBound<ConnectionTable> {
    await loop.turn { [serving = loop.loop] queue in
      LoopBound(ConnectionTable(queue: queue, loop: serving, limits: limits, crowdLeft: crowdLeft), queue)
    }
  }

  static func make(
    _ responder: any LineResponder, limits: ListenerLimits = ListenerLimits(), isNarrow: Bool = false
  ) async throws -> TestConnection {
    let loop = try TestLoop()
    return try await TestConnection(
      responder, table: table(on: loop, limits: limits), on: loop, isNarrow: isNarrow)
  }

  func send(_ text: String) async throws { try await send(Array(text.utf8)) }

  /// Returns when the bytes have been read and what they ask for at once has been answered.
  func send(_ bytes: [UInt8]) async throws {
    let far = far
    try #require(await loop.turn { _ in bytes.isEmpty || far.send(bytes) })
    // A read a turn.
    for _ in 0..<(bytes.count / WireLimits.ownBytes) { await loop.turn() }
  }

  func endInput() async {
    let far = far
    await loop.turn { _ in far.endSending() }
  }

  func leave() async {
    let far = far
    await loop.turn { _ in far.leave() }
  }

  func advance(_ span: LoopSpan) async { await loop.advance(span) }

  var isOpen: Bool {
    get async { await loop.loop.run { [connection] in connection.value(on: $0).isOpen } }
  }

  var lines: [String] { far.lines }
  var text: String { far.text }
}

extension [TestConnection] {
  var areOpen: [Bool] {
    get async {
      var open: [Bool] = []
      for connection in self { open.append(await connection.isOpen) }
      return open
    }
  }
}

/// Request lines.
enum Lines {
  /// Canonical, answered on the loop.
  static func ready(_ id: Int) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"token.get","params":{"account":"ready"}}"# + "\n"
  }

  /// Answered when the test says so.
  static func slow(_ id: Int) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"vault.status","params":{}}"# + "\n"
  }
}
