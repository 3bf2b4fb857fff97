import AgentCore
import AgentWire
import FetchWire
import Foundation
import Glibc
import Synchronization
import Testing

@testable import AgentRuntime

/// Programs that stand for an oauthd-redirect, and the real one when it is ended from outside.
@Suite("The process that serves a login's browser", .serialized)
struct RedirectHelperTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func script(_ name: String, _ text: String) throws -> String {
    try folder.write(name, "#!/bin/sh\n" + text + "\n", mode: 0o700)
    return "\(folder.path)/\(name)"
  }

  /// The helper's processes that this test has started: each writes its number down before it becomes the helper.
  private func recorded() throws -> String {
    try script("recorded", "echo $$ >>\(folder.path)/pids\nexec '\(builtRedirectHelper)'")
  }

  private func processes() throws -> [pid_t] {
    let text = try String(contentsOfFile: folder.path + "/pids", encoding: .utf8)
    return text.split(separator: "\n").compactMap { pid_t($0) }
  }

  /// Whether `process` runs; a zombie that is not reaped yet does too.
  private func runs(_ process: pid_t) -> Bool { kill(process, 0) == 0 }

  private static let patience = Duration.seconds(300)

  private func eventually(_ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now.advanced(by: Self.patience)
    while try await !condition() {
      try #require(.now < end, "It never happened.")
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  private func ask(_ port: Int, _ target: String) async throws -> String {
    let client = try await RawClient(port: port)
    try? await client.send("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
    return try await client.received()
  }

  private func refusal(_ helper: String) async throws -> String {
    let error = await #expect(throws: RedirectListenerError.self) {
      try await redirectReceiver(helper: helper).listen(host: "127.0.0.1", port: 0) { _ in .ignored }
    }
    return try #require(error).message
  }

  @Test("A helper that is not there is named, with what to do")
  func missing() async throws {
    let error = await #expect(throws: RedirectListenerError.self) {
      try await redirectReceiver(helper: "/nonexistent/oauthd-redirect").listen(host: "127.0.0.1", port: 0) { _ in
        .ignored
      }
    }
    #expect(error?.message.contains("/nonexistent/oauthd-redirect could not be started") == true)
    #expect(error?.hint.text.contains("oauthctl doctor") == true)
  }

  @Test("A helper that ends, or says what is no report, or why it cannot work, ends the attempt in those words")
  func broken() async throws {
    #expect(try await refusal(script("ends", "exit 3")).contains("oauthd-redirect ended (status 3)"))
    // Its descriptor 0 is what it speaks on.
    #expect(
      try await refusal(script("nonsense", "echo hello >&0; exec sleep 600"))
        .contains("oauthd-redirect sent a report that cannot be read"))
    #expect(
      try await refusal(script("says", #"printf '\047\0\0\0\010\0\006no ram' >&0; exec sleep 600"#)) == "no ram")
  }

  @Test("After a failed start the port is free")
  func portIsFree() async throws {
    // Below those that the kernel gives to other tests.
    let port = Int.random(in: 20_000..<32_000)
    #expect(try await listen(port, helper: "/nonexistent")?.contains("could not be started") == true)
    #expect(try await listen(port, helper: nil) == nil)
  }

  /// Listens for a moment; nil, or why not. A port that is taken is tried again: a program that another test is starting
  /// holds copies of all sockets until it runs.
  private func listen(_ port: Int, helper: String?) async throws -> String? {
    let receiver = try helper.map { try redirectReceiver(helper: $0) } ?? redirectReceiver()
    let end = ContinuousClock.now.advanced(by: Self.patience)
    while true {
      do {
        try await receiver.listen(host: "127.0.0.1", port: port) { _ in .ignored }.close()
        return nil
      } catch let error as RedirectListenerError {
        guard error.isTaken, .now < end else { return error.message }
        try await Task.sleep(for: .milliseconds(5))
      }
    }
  }

  @Test("It ends with its login")
  func endsWithLogin() async throws {
    let listener = try await redirectReceiver(helper: recorded()).listen(host: "127.0.0.1", port: 0) { _ in .notFound }
    #expect(try await ask(listener.port, "/x").hasPrefix("HTTP/1.1 404 "))
    let process = try #require(processes().first)
    #expect(runs(process))
    await listener.close()
    try await eventually { !runs(process) }
  }

  @Test("It ends when its time is over, though the agent is there and tells it nothing")
  func endsByItself() async throws {
    var limits = RedirectLimits()
    limits.lifeMilliseconds = 1
    let helper = try recorded()
    let ended = Mutex<String?>(nil)
    let socket = try LoopbackSocket.open(try #require(LoopbackSocket.end(host: "127.0.0.1", port: 0)), backlog: 8)
    let loop = try redirectLoop.get()
    let link = await loop.run { [limits] queue in
      let link = RedirectLink(
        helper: helper, listener: socket.descriptor, limits: limits, loop: loop, queue: queue
      ) { event in
        if case .ended(let reason) = event { ended.withLock { $0 = reason } }
      }
      return LoopBound(link, queue)
    }
    try await eventually { ended.withLock { $0 } != nil }
    #expect(ended.withLock { $0 } == "oauthd-redirect ended (status 0)")
    await loop.run { _ = link.value(on: $0) }
  }

  @Test("Killed once it is started again, and the login goes on; killed twice nobody is served, and closing returns")
  func killed() async throws {
    let listener = try await redirectReceiver(helper: recorded()).listen(host: "127.0.0.1", port: 0) { hit in
      hit.target == "/end" ? .loggedIn : .notFound
    }
    #expect(try await ask(listener.port, "/end").hasPrefix("HTTP/1.1 303 "))
    kill(try processes()[0], SIGKILL)
    // The socket never stopped listening: this waits in it for the next process, which knows how the login ended.
    try await eventually { try processes().count == 2 }
    #expect(try await ask(listener.port, "/done").contains("You can close this page"))
    let last = try processes()[1]
    kill(last, SIGKILL)
    try await eventually { !runs(last) }
    #expect(try connect(listener.port), "nobody else gets the port")
    await listener.close()
    await listener.close()
    #expect(try !connect(listener.port) && processes().count == 2)
  }

  /// A session that serves browsers, and the loop it is bound to.
  private func session(
    _ onHit: @escaping @Sendable (RedirectHit) async -> RedirectPage
  ) async throws -> (LoopBound<RedirectSession>, ServingLoop, port: Int) {
    let loop = try redirectLoop.get()
    let socket = try LoopbackSocket.open(try #require(LoopbackSocket.end(host: "127.0.0.1", port: 0)), backlog: 8)
    let tools = RedirectSession.Tools(
      helper: try recorded(), limits: RedirectLimits(), socket: socket, identity: nil, closeGrace: .seconds(3_600),
      acceptor: RedirectAcceptor.Place(
        server: socket.end, uid: getuid(), owners: SocketOwners(), limit: 8, loop: loop, logger: .silent),
      onHit: onHit)
    let session = await loop.run { LoopBound(RedirectSession(tools, queue: $0), $0) }
    let started = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<Int?, RedirectListenerError>, Never>) in
      loop.execute { session.value(on: $0).start { continuation.resume(returning: $0) } }
    }
    _ = try started.get()
    return (session, loop, Int(socket.end.port))
  }

  @Test("A request that is judged while its process dies is answered to nobody else")
  func diesWhileJudging() async throws {
    let mayEnd = Atomic<Bool>(false)
    let (session, loop, port) = try await session { hit in
      guard hit.target == "/slow" else { return .notFound }
      while !mayEnd.load(ordering: .relaxed) { try? await Task.sleep(for: .milliseconds(5)) }
      return .forward("https://secret.example/")
    }
    let oneIsOwed = { await loop.run { session.value(on: $0).owed == [1] } }
    async let slow = ask(port, "/slow")
    try await eventually { await oneIsOwed() }
    kill(try processes()[0], SIGKILL)
    #expect(try await slow.isEmpty)
    // The next process counts its connections from the beginning, too: this one has the number of the other.
    async let other = ask(port, "/other")
    try await eventually { try processes().count == 2 }
    try await eventually { await oneIsOwed() }
    mayEnd.store(true, ordering: .relaxed)
    #expect(try await other.hasPrefix("HTTP/1.1 404 "))
    await withCheckedContinuation { continuation in
      loop.execute { session.value(on: $0).close { continuation.resume() } }
    }
  }

  @Test("One that dies while its login closes is not started again, and closing returns")
  func diesWhileClosing() async throws {
    let (session, loop, port) = try await session { _ in .loggedIn }
    #expect(try await ask(port, "/end").hasPrefix("HTTP/1.1 303 "))
    let process = try #require(processes().first)
    // Closing waits for the landing page, which nobody fetches.
    await withCheckedContinuation { continuation in
      loop.execute {
        session.value(on: $0).close { continuation.resume() }
        kill(process, SIGKILL)
      }
    }
    #expect(try processes() == [process])
    #expect(try connect(port) == false)
  }

  @Test("One that is stopped and answers nothing keeps no login from closing")
  func stopped() async throws {
    let listener = try await redirectReceiver(helper: recorded(), closeGrace: .milliseconds(10))
      .listen(host: "127.0.0.1", port: 0) { _ in .notFound }
    let process = try #require(processes().first)
    kill(process, SIGSTOP)
    await listener.close()
    try await eventually { !runs(process) }
  }

  @Test("A browser that has its answer and keeps its connection is let go of after the linger time")
  func lingers() async throws {
    var limits = RedirectLimits()
    limits.answerMilliseconds = 300_000
    limits.lingerMilliseconds = 50
    let listener = try await redirectReceiver(helper: recorded(), limits: limits)
      .listen(host: "127.0.0.1", port: 0) { _ in .notFound }
    let browser = try #require(try connected(listener.port))
    defer { close(browser) }
    let request = Array("GET /x HTTP/1.1\r\nHost: 127.0.0.1:\(listener.port)\r\n\r\n".utf8)
    #expect(send(browser, request, request.count, Int32(MSG_NOSIGNAL)) == request.count)
    var byte: UInt8 = 0
    try await eventually { recv(browser, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) == 1 }
    let process = try #require(processes().first)
    await listener.close()
    try await eventually { !runs(process) }
  }

  /// A connection; nil where nobody listens.
  private func connected(_ port: Int) throws -> Int32? {
    let end = try #require(SocketEnd(host: "127.0.0.1", port: port))
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    if end.withAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 { return descriptor }
    close(descriptor)
    return nil
  }

  private func connect(_ port: Int) throws -> Bool {
    guard let descriptor = try connected(port) else { return false }
    close(descriptor)
    return true
  }
}
