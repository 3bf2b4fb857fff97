import AgentCore
import AgentWire
import NIOCore
import NIOEmbedded
import Synchronization

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
  }
  private let state = Mutex(State())
  let events = EventFeed()

  /// With `answersAll` nothing waits for the test.
  init(answersAll: Bool = false) { state.withLock { $0.answersAll = answersAll } }

  /// What a request for a ready token is answered with.
  func setReady(_ line: String) { state.withLock { $0.ready = Array(line.utf8) } }

  func sendReadyAnswer(
    to request: TokenLine.Request, from caller: Caller,
    _ send: (_ capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Void
  ) -> Bool {
    guard request.account == "ready" else { return false }
    let ready = state.withLock { $0.ready }
    send(ready.count + 7) { buffer in
      buffer.copyBytes(from: ready)
      return ready.count
    }
    return true
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

  /// Answers one waiting request, or all of them.
  func release(_ id: RequestID? = nil) {
    let released = state.withLock { state in
      let released = state.waiting.filter { id == nil || $0.id == id }
      state.waiting.removeAll { id == nil || $0.id == id }
      return released
    }
    for one in released { one.continuation.resume(returning: Array("\(one.id.text)\n".utf8)) }
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

/// Stands for the socket: keeps what is written, takes it or not, counts reads.
final class OutboundRecorder: ChannelOutboundHandler, Sendable {
  typealias OutboundIn = ByteBuffer

  private struct State {
    var bytes: [UInt8] = []
    var buffers: [ByteBuffer] = []
    var promises: [EventLoopPromise<Void>] = []
    var takes = true
    var reads = 0
    var watchers: [(lines: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var lines: Int { bytes.count { $0 == 0x0A } }
  }
  private let state = Mutex(State())

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let buffer = unwrapOutboundIn(data)
    let woken = state.withLock { state in
      state.bytes += Array(buffer.readableBytesView)
      state.buffers.append(buffer)
      if let promise { state.promises.append(promise) }
      let lines = state.lines
      let woken = state.watchers.filter { $0.lines <= lines }
      state.watchers.removeAll { $0.lines <= lines }
      return woken
    }
    for watcher in woken { watcher.continuation.resume() }
  }

  func flush(context: ChannelHandlerContext) { if state.withLock({ $0.takes }) { take() } }

  func read(context: ChannelHandlerContext) {
    state.withLock { $0.reads += 1 }
    context.read()
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    let promises = state.withLock { state in
      defer { state.promises = [] }
      return state.promises
    }
    for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
    context.close(mode: mode, promise: promise)
  }

  /// The caller takes everything that was written.
  func take() {
    let promises = state.withLock { state in
      defer { state.promises = [] }
      return state.promises
    }
    for promise in promises { promise.succeed() }
  }

  func setTakes(_ takes: Bool) { state.withLock { $0.takes = takes } }
  var reads: Int { state.withLock { $0.reads } }
  /// Whether every byte of every answer written so far is zero where it lies.
  var areAnswersWiped: Bool {
    state.withLock { state in state.buffers.allSatisfy { $0.readableBytesView.allSatisfy { $0 == 0 } } }
  }
  var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }
  var lines: [String] { text.split(separator: "\n").map(String.init) }

  /// The lines once there are `count` of them.
  func waitForLines(_ count: Int) async -> [String] {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.lines >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
    return lines
  }
}

/// One connection in a loop whose time the test moves.
struct TestConnection {
  let channel: NIOAsyncTestingChannel
  let recorder = OutboundRecorder()

  init(
    _ responder: any LineResponder, table: NIOLoopBound<ConnectionTable>, loop: NIOAsyncTestingEventLoop,
    number: UInt64 = 1, descriptor: Int32? = nil
  ) async throws {
    channel = NIOAsyncTestingChannel(loop: loop)
    let (channel, recorder) = (channel, recorder)
    try await loop.executeInContext {
      let handler = ConnectionHandler(
        caller: Caller(listener: "agent", uid: 1, pid: 2, connection: number), responder: responder, table: table.value,
        descriptor: descriptor)
      try channel.pipeline.syncOperations.addHandlers(recorder, handler)
    }
    // Makes it active.
    try await channel.connect(to: try SocketAddress(unixDomainSocketPath: "/test")).get()
  }

  static func table(
    on loop: NIOAsyncTestingEventLoop, limits: ListenerLimits = ListenerLimits()
  ) async throws -> NIOLoopBound<ConnectionTable> {
    try await loop.executeInContext { NIOLoopBound(ConnectionTable(eventLoop: loop, limits: limits), eventLoop: loop) }
  }

  static func make(
    _ responder: any LineResponder, limits: ListenerLimits = ListenerLimits()
  ) async throws -> TestConnection {
    let loop = NIOAsyncTestingEventLoop()
    return try await TestConnection(responder, table: table(on: loop, limits: limits), loop: loop)
  }

  func send(_ text: String) async throws { try await send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) async throws {
    try await arrive(bytes)
    await channel.testingEventLoop.run()
  }

  /// The bytes are read in a round of the loop that is not over yet.
  func arrive(_ bytes: [UInt8]) async throws { try await channel.writeInbound(ByteBuffer(bytes: bytes)) }

  func endInput() async throws {
    let channel = channel
    try await channel.testingEventLoop.executeInContext {
      channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }
  }

  func advance(_ time: TimeAmount) async { await channel.testingEventLoop.advanceTime(by: time) }

  /// Runs `body` on the loop, after everything that is queued there.
  func onLoop<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await channel.testingEventLoop.executeInContext(body)
  }

  var isOpen: Bool { channel.isActive }
}

/// Request lines.
enum Lines {
  /// Canonical, answered on the loop.
  static func ready(_ id: Int) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"token.get","params":{"account":"ready"}}"# + "\n"
  }

  /// Answered when the test says so.
  static func slow(_ id: Int) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"agent.status","params":{}}"# + "\n"
  }
}
