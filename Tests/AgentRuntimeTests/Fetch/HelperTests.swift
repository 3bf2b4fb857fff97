import FetchWire
import Foundation
import Glibc
import Testing

@testable import AgentRuntime

/// The helper without the agent: what it does with its environment, its pipes and bad input.
@Suite("The helper by itself")
struct HelperTests {
  /// Runs the helper on `input` to its end; what it wrote and its status.
  private func run(_ input: [UInt8], environment: [String: String] = [:]) async throws -> (
    output: [UInt8], status: Int32
  ) {
    let process = Process()
    let (stdin, stdout) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: builtHelper)
    process.environment = environment
    process.standardInput = stdin
    process.standardOutput = stdout
    try process.run()
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        stdin.fileHandleForWriting.write(Data(input))
        try? stdin.fileHandleForWriting.close()
        let output = [UInt8](stdout.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        continuation.resume(returning: (output, process.terminationStatus))
      }
    }
  }

  private func events(_ output: [UInt8]) throws -> [FetchEvent] {
    var reader = FetchEventReader()
    var events: [FetchEvent] = []
    while let event = try output.withUnsafeBytes({ try reader.next($0) }) { events.append(event) }
    return events
  }

  @Test("Proxies in the environment are ignored")
  func environmentProxy() async throws {
    let proxy = try HostileServer { _ in }
    let server = try HostileServer { _ in }
    defer {
      proxy.stop()
      server.stop()
    }
    let names = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
    let environment = Dictionary(uniqueKeysWithValues: names.map { ($0, "http://127.0.0.1:\(proxy.port)") })
    let request = FetchRequest(.post, "https://127.0.0.1:\(server.port)/")
    let (output, _) = try await run(try request.encoded(bodyBytes: 1) + [0x61], environment: environment)
    #expect(server.connections == 1 && proxy.connections == 0)
    guard case .failure(let failure) = try events(output).first else {
      Issue.record("no failure")
      return
    }
    #expect(failure.reason == .tls)
  }

  @Test("The stage `sent` comes before the answer, and only once")
  func stages() async throws {
    let server = try HostileServer {
      $0.readRequest()
      $0.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    }
    defer { server.stop() }
    let body = [UInt8](repeating: 0x61, count: 200 << 10)
    let (output, status) = try await run(try FetchRequest(.post, server.url).encoded(bodyBytes: body.count) + body)
    let events = try events(output)
    #expect(status == 0 && events.count == 2 && events.first == .sent)
  }

  @Test("An answer to the head alone is an answer; nothing was sent of the body then or all of it")
  func earlyAnswer() async throws {
    let server = try HostileServer {
      _ = $0.readHead()
      $0.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
      $0.hang()
    }
    defer { server.stop() }
    let body = [UInt8](repeating: 0x61, count: 200 << 10)
    let (output, _) = try await run(try FetchRequest(.post, server.url).encoded(bodyBytes: body.count) + body)
    guard case .answer(let answer) = try events(output).last else {
      Issue.record("no answer")
      return
    }
    #expect(answer.status == 413)
  }

  @Test("A request that is none is refused with a reason and sends nothing")
  func badInput() async throws {
    for input in [[0x47, 0x45, 0x54], [0x01, 0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]] {
      let (output, status) = try await run(input)
      guard case .failure(let failure) = try events(output).first else {
        Issue.record("no failure")
        return
      }
      #expect(failure.reason == .helper && status == 1)
    }
  }

  @Test("A request cut short ends the helper without a word")
  func cutShort() async throws {
    let whole = try FetchRequest(.post, "http://127.0.0.1:1/").encoded(bodyBytes: 2) + [0x61]
    let (output, status) = try await run(whole)
    #expect(output.isEmpty && status == 1)
  }

  private func patient(_ server: HostileServer) -> FetchRequest {
    FetchRequest(.post, server.url, timeoutMilliseconds: 300_000)
  }

  @Test("The helper ends when nobody reads its answer any more")
  func abandoned() async throws {
    let arrived = AsyncStream.makeStream(of: Void.self)
    let left = AsyncStream.makeStream(of: Void.self)
    let server = try HostileServer {
      $0.readRequest()
      arrived.continuation.finish()
      $0.hang()
      left.continuation.finish()
    }
    defer { server.stop() }
    let process = Process()
    let (stdin, stdout) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: builtHelper)
    process.standardInput = stdin
    process.standardOutput = stdout
    try process.run()
    stdin.fileHandleForWriting.write(Data(try patient(server).encoded(bodyBytes: 1) + [0x61]))
    for await _ in arrived.stream {}
    let started = ContinuousClock.now
    try stdout.fileHandleForReading.close()
    for await _ in left.stream {}
    #expect(started.duration(to: .now) < .seconds(290), "its own time-out is 300 s")
  }

  @Test("The helper dies with the process that started it")
  func orphaned() async throws {
    let arrived = AsyncStream.makeStream(of: Void.self)
    let left = AsyncStream.makeStream(of: Void.self)
    let server = try HostileServer {
      $0.readRequest()
      arrived.continuation.finish()
      $0.hang()
      left.continuation.finish()
    }
    defer { server.stop() }
    let request = FileManager.default.temporaryDirectory.appendingPathComponent("request-" + UUID().uuidString)
    try Data(try patient(server).encoded(bodyBytes: 1) + [0x61]).write(to: request)
    defer { try? FileManager.default.removeItem(at: request) }
    // The shell is the parent; the answer would go to a file, so that no closing pipe gives the end away.
    let parent = Process()
    let stdin = Pipe()
    parent.executableURL = URL(fileURLWithPath: "/bin/sh")
    parent.arguments = ["-c", #""$0" <"$1" >/dev/null & read line; kill -KILL $$"#, builtHelper, request.path]
    parent.standardInput = stdin
    try parent.run()
    for await _ in arrived.stream {}
    let started = ContinuousClock.now
    stdin.fileHandleForWriting.write(Data("\n".utf8))
    for await _ in left.stream {}
    #expect(started.duration(to: .now) < .seconds(290), "its own time-out is 300 s")
  }
}
