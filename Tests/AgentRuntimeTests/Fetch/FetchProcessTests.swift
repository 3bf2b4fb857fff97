import Foundation
import OAuthProtocol
import Sealing
import Synchronization
import Testing

@testable import AgentCore
@testable import AgentRuntime

@Suite("The helper as a process")
struct FetchProcessTests {
  @Test("A lock outlasts every helper: none can send anything after the answer to it")
  func lockOutlasts() {
    let longest = TokenEndpoint.refreshTimeoutMilliseconds + FetchProcess.overtimeMilliseconds
    #expect(CredentialService.lockDrainSeconds * 1_000 > Double(longest))
  }

  /// A shell script in the place of the helper.
  private func impostor(_ script: String) throws -> (path: String, folder: URL) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("fetch-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = folder.appendingPathComponent("helper").path
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
    guard
      FileManager.default.createFile(
        atPath: path, contents: Data(("#!/bin/sh\n" + script + "\n").utf8), attributes: attributes)
    else { throw CocoaError(.fileWriteUnknown) }
    return (path, folder)
  }

  @Test(
    "A helper that fails leaves the outcome its last word allows",
    arguments: [
      ("exit 3", Verdict.notSent(.installation)),
      ("kill -SEGV $$", .notSent(.helper)),
      ("cat >/dev/null", .notSent(.installation)),
      (#"printf '\021\000\000\000\000'; exit 3"#, .sentNoAnswer(.helper)),
      (#"printf '\021\000\000\000\000'; kill -KILL $$"#, .sentNoAnswer(.helper)),
      (#"printf '\021\000\000\000'; exit 3"#, .notSent(.installation)),
      (#"printf '\021\000\000\000\000\022\000\000'; exit 3"#, .sentNoAnswer(.helper)),
      // A refused certificate of the client's: the server took nothing, although all had left.
      (#"printf '\021\000\000\000\000\024\000\000\000\004\014\000\001x'"#, .notSent(.clientCertificate)),
      ("echo oops", .sentNoAnswer(.installation)),
      (#"printf '\022\377\377\377\377'"#, .sentNoAnswer(.installation)),
      (#"printf '\024\000\000\000\005\003\000\002no'"#, .notSent(.tls)),
      (#"printf '\022\000\000\000\005\000\310\000\000\000\023\000\000\000\002{}'; exec sleep 60"#, .answered(200)),
    ])
  func failing(script: String, expected: Verdict) async throws {
    let (path, folder) = try impostor(script)
    defer { try? FileManager.default.removeItem(at: folder) }
    let transport = FetchProcess(helper: path, userAgent: "oauthd/test")
    let outcome = await transport.perform(post("http://127.0.0.1:1/"), route: HTTPRoute())
    #expect(Verdict(outcome) == expected, "\(outcome)")
    await untilGone(transport)
  }

  @Test(
    "A helper that hangs is killed at the deadline, and what it reported before decides",
    arguments: [
      ("exec sleep 600", Verdict.notSent(.timeout)),
      (#"printf '\021\000\000\000\000'; exec sleep 600"#, .sentNoAnswer(.timeout)),
      // Another process keeps the pipe open, as one would that is stuck in the kernel.
      ("sleep 30 & wait", .notSent(.timeout)),
      (#"printf '\021\000\000\000\000'; sleep 30 & wait"#, .sentNoAnswer(.timeout)),
    ])
  func hanging(script: String, expected: Verdict) async throws {
    let (path, folder) = try impostor(script)
    defer { try? FileManager.default.removeItem(at: folder) }
    let transport = FetchProcess(helper: path, userAgent: "oauthd/test")
    let started = ContinuousClock.now
    let outcome = await transport.perform(post("http://127.0.0.1:1/"), route: HTTPRoute(timeoutMilliseconds: 50))
    #expect(Verdict(outcome) == expected, "\(outcome)")
    #expect(started.duration(to: .now) < .seconds(590), "the helper would sleep for 600 s")
  }

  @Test("An answer stays an answer when the end of its process is never learned")
  func stolenEnd() async throws {
    let (path, folder) = try impostor(
      #"echo $$ >"${0%/*}/draft"; mv "${0%/*}/draft" "${0%/*}/pid""# + "\n"
        + #"printf '\022\000\000\000\005\000\310\000\000\000\023\000\000\000\002{}'; exec sleep 60"#)
    defer { try? FileManager.default.removeItem(at: folder) }
    let pid = folder.appendingPathComponent("pid")
    let transport = FetchProcess(helper: path, userAgent: "oauthd/test")
    // Who waits first takes the end away from the other, so one round may prove nothing.
    for _ in 0..<8 {
      try? FileManager.default.removeItem(at: pid)
      Thread.detachNewThread {
        while true {
          if let text = try? String(contentsOf: pid, encoding: .utf8), let number = Int32(text.dropLast()) {
            var status: Int32 = 0
            waitpid(number, &status, 0)
            return
          }
          usleep(500)
        }
      }
      let outcome = await transport.perform(post("http://127.0.0.1:1/"), route: HTTPRoute())
      #expect(Verdict(outcome) == .answered(200), "\(outcome)")
    }
    await untilGone(transport)
  }

  @Test("A helper that is not there is an error of the installation")
  func missing() async {
    let transport = FetchProcess(helper: "/nonexistent/oauthd-fetch", userAgent: "oauthd/test")
    let outcome = await transport.perform(post("http://127.0.0.1:1/"), route: HTTPRoute())
    #expect(Verdict(outcome) == .notSent(.installation))
    #expect(outcome.failure?.message.contains("/nonexistent/oauthd-fetch") == true)
    await untilGone(transport)
  }

  @Test("The helper gets no environment and no descriptor but its three")
  func isolation() async throws {
    let (path, folder) = try impostor("cat /proc/$$/environ >\"${0%/*}/environ\"; ls /proc/self/fd >\"${0%/*}/fd\"")
    defer { try? FileManager.default.removeItem(at: folder) }
    let open = try HostileServer { _ in }
    defer { open.stop() }
    let transport = FetchProcess(helper: path, userAgent: "oauthd/test")
    _ = await transport.perform(post(open.url), route: HTTPRoute())
    #expect(try Data(contentsOf: folder.appendingPathComponent("environ")).isEmpty)
    let descriptors = try String(contentsOf: folder.appendingPathComponent("fd"), encoding: .utf8).split(
      separator: "\n")
    // 3 is the folder that `ls` reads.
    #expect(Set(descriptors) == ["0", "1", "2", "3"])
  }

  @Test("The helper lies beside the agent")
  func beside() {
    #expect(HelperProcess.path("oauthd-fetch", beside: "/usr/lib/oauthctl/oauthd") == "/usr/lib/oauthctl/oauthd-fetch")
    #expect(HelperProcess.path("oauthd-fetch", beside: "oauthd") == "oauthd-fetch")
  }

  @Test("Cancelling the caller does not stop a request on its way")
  func cancellation() async throws {
    let arrived = AsyncStream.makeStream(of: Void.self)
    let cancelled = DispatchSemaphore(value: 0)
    let server = try HostileServer {
      $0.readRequest()
      arrived.continuation.finish()
      cancelled.wait()
      $0.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    }
    defer { server.stop() }
    let url = server.url
    let caller = Task { await fetch.perform(post(url), route: HTTPRoute()) }
    for await _ in arrived.stream {}
    caller.cancel()
    cancelled.signal()
    #expect(Verdict(await caller.value) == .answered(200))
    #expect(server.requests.count == 1)
  }
}
