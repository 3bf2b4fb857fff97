import AgentCore
import Glibc
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("Who may reach a redirect listener")
struct RedirectAcceptorTests {
  private static let request = "GET /callback?code=c&state=s HTTP/1.1\r\nHost: 127.0.0.1:"

  /// What a client is answered by a listener that belongs to `uid`, and how many requests reached the login.
  private func ask(uid: UInt32) async throws -> (answer: String, hits: Int) {
    let hits = Atomic<Int>(0)
    let receiver = try redirectReceiver(uid: uid)
    let listener = try await receiver.listen(host: "127.0.0.1", port: 0) { _ in
      hits.add(1, ordering: .relaxed)
      return .notFound
    }
    let client = try await RawClient(port: listener.port)
    try? await client.send(Self.request + "\(listener.port)\r\n\r\n")
    // A connection that is closed with unread bytes in it ends with a reset.
    let answer = (try? await client.received()) ?? ""
    await listener.close()
    return (answer, hits.load(ordering: .relaxed))
  }

  @Test("Our own user is answered")
  func own() async throws {
    let (answer, hits) = try await ask(uid: getuid())
    #expect(answer.hasPrefix("HTTP/1.1 404 "))
    #expect(hits == 1)
  }

  @Test("Another user gets no byte, and no request of his reaches the login")
  func another() async throws {
    let (answer, hits) = try await ask(uid: getuid() + 1)
    #expect(answer.isEmpty)
    #expect(hits == 0)
  }
}
