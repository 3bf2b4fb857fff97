import AgentCore
import FetchWire
import Glibc
import Logging
import OAuthProtocol
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("The loopback redirect listener", .serialized)
struct RedirectReceiverTests {
  /// Judges as a login does: the right path and state end it.
  private final class Login: Sendable {
    private let seen = Mutex<[RedirectHit]>([])
    var hits: [RedirectHit] { seen.withLock { $0 } }

    @Sendable func judge(_ hit: RedirectHit) async -> RedirectPage {
      seen.withLock { $0.append(hit) }
      switch hit.target {
      case "/callback?code=SECRET&state=right": return .loggedIn
      case "/callback?error=access_denied&state=right": return .refused(reason: "<b>access_denied</b> \"&\u{1b}")
      case let target where target.hasPrefix("/callback?"): return .ignored
      default: return .notFound
      }
    }
  }

  private func limits() -> RedirectLimits {
    var limits = RedirectLimits()
    // On a crowded machine an answer may take longer than a browser should wait.
    limits.requestMilliseconds = 300_000
    limits.answerMilliseconds = 300_000
    limits.lingerMilliseconds = 50
    return limits
  }

  private func listen(
    _ login: Login, closeGrace: LoopSpan = .milliseconds(200), host: String = "127.0.0.1", port: Int = 0
  ) async throws -> any RedirectListening {
    let receiver = try redirectReceiver(limits: limits(), closeGrace: closeGrace)
    return try await receiver.listen(host: host, port: port, onHit: login.judge)
  }

  /// Sends `request` and reads until the listener closes. `PORT` stands for the port.
  private func ask(_ listener: any RedirectListening, _ request: String) async throws -> String {
    let client = try await RawClient(port: listener.port)
    // A refusal may come while we are still sending.
    try? await client.send(request.replacingPort(listener.port))
    return try await client.received()
  }

  private static let good = "GET /callback?code=SECRET&state=right HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"
  private static let done = "GET /done HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"

  @Test("The redirect ends the login, and the browser is sent to a clean address")
  func loggedIn() async throws {
    let login = Login()
    let listener = try await listen(login)
    let answer = try await ask(listener, Self.good)
    #expect(answer.hasPrefix("HTTP/1.1 303 See Other\r\n"))
    #expect(answer.contains("\r\nLocation: /done\r\n"))
    #expect(!answer.contains("SECRET"))
    let page = try await ask(listener, Self.done)
    #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(page.contains("You can close this page"))
    #expect(login.hits.map(\.target) == ["/callback?code=SECRET&state=right"])
    await listener.close()
  }

  /// Returns once nobody listens at a port: the number may be another test's for a moment. The time limit of the tests
  /// ends it.
  private func isRefused(_ port: Int) async {
    while (try? await RawClient(port: port)) != nil { await Task.yield() }
  }

  @Test("Closing waits until the browser has fetched the landing page", .timeLimit(.minutes(5)))
  func closeWaits() async throws {
    let listener = try await listen(Login(), closeGrace: .seconds(300))
    _ = try await ask(listener, Self.good)
    async let closed: Void = listener.close()
    #expect(try await ask(listener, Self.done).contains("You can close this page"))
    await closed
    await isRefused(listener.port)
  }

  @Test("Closing gives up on a browser that does not come", .timeLimit(.minutes(5)))
  func closeGivesUp() async throws {
    let listener = try await listen(Login())
    _ = try await ask(listener, Self.good)
    await listener.close()
    await isRefused(listener.port)
  }

  @Test("A refusal is told on the clean address, with the server's words escaped")
  func refused() async throws {
    let listener = try await listen(Login())
    let answer = try await ask(
      listener, "GET /callback?error=access_denied&state=right HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 303 "))
    let page = try await ask(listener, Self.done)
    #expect(page.contains("&lt;b&gt;access_denied&lt;/b&gt; &quot;&amp; "))
    #expect(!page.contains("<b>") && !page.contains("\u{1b}"))
    await listener.close()
  }

  @Test("Every answer forbids scripts, styles, frames, caching, sniffing and referrers")
  func fields() async throws {
    let listener = try await listen(Login())
    let requests = [
      Self.good, Self.done, "GET /x HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", "nonsense\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    ]
    for request in requests {
      let answer = try await ask(listener, request)
      #expect(answer.contains("\r\nContent-Security-Policy: default-src 'none';"))
      #expect(answer.contains("\r\nReferrer-Policy: no-referrer\r\n"))
      #expect(answer.contains("\r\nCache-Control: no-store\r\n"))
      #expect(answer.contains("\r\nX-Content-Type-Options: nosniff\r\n"))
      #expect(answer.contains("\r\nConnection: close\r\n"))
      for word in ["<script", "<style", "src=", "href=", "style="] { #expect(!answer.contains(word)) }
    }
    await listener.close()
  }

  @Test(
    "What is not the redirect ends no login, and the listener goes on",
    arguments: [
      ("GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 404, true),
      ("GET /callback HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 404, true),
      ("GET /done HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 404, true),
      ("GET /callback?code=SECRET&state=wrong HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 400, true),
      ("HEAD /callback?code=SECRET&state=right HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 405, false),
      (
        "POST /callback?code=SECRET&state=right HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 0\r\n\r\n", 405,
        false
      ),
      ("OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 405, false),
      ("CONNECT x:1 HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 405, false),
      ("GET /callback?code=SECRET&state=right HTTP/1.1\r\nHost: evil.example:PORT\r\n\r\n", 421, false),
      ("GET /callback?code=SECRET&state=right HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 421, false),
      ("GET /callback?code=SECRET&state=right HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", 421, false),
      ("GET /callback?code=SECRET&state=right HTTP/1.1\r\nHost: localhost.evil.example:PORT\r\n\r\n", 421, false),
      ("GET /callback?code=SECRET&state=right HTTP/1.1\r\nHost: user@127.0.0.1:PORT\r\n\r\n", 421, false),
      ("GET /callback?code=SECRET&state=right HTTP/1.1\r\n\r\n", 421, false),
      (
        "GET /callback?code=SECRET&state=right HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: evil.example\r\n\r\n", 421,
        false
      ),
      (
        "GET http://evil.example/callback?code=SECRET&state=right HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 400,
        false
      ),
      (
        "GET /callback?code=SECRET&state=right HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 3\r\n\r\nabc", 400,
        false
      ),
      (
        "GET /callback?code=SECRET&state=right HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400, false
      ),
      ("nonsense\r\n\r\n", 400, false),
      ("GET /callback?code=SECRET&state=right\r\n\r\n", 400, false),
    ] as [(String, Int, Bool)])
  func others(_ request: String, _ status: Int, _ reachesTheLogin: Bool) async throws {
    let login = Login()
    let listener = try await listen(login)
    let answer = try await ask(listener, request)
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer.prefix(60))")
    #expect(!answer.contains("SECRET"))
    #expect(login.hits.count == (reachesTheLogin ? 1 : 0))
    #expect(try await ask(listener, Self.good).hasPrefix("HTTP/1.1 303 "))
    await listener.close()
  }

  @Test("A request of 1 MB, in the URL or in the fields, is refused and ends no login", arguments: [true, false])
  func huge(_ inURL: Bool) async throws {
    let login = Login()
    let listener = try await listen(login)
    let filler = String(repeating: "a", count: 1 << 20)
    let request =
      inURL
      ? "GET /callback?code=\(filler)&state=right HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"
      : "GET /callback?code=SECRET&state=right HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nCookie: \(filler)\r\n\r\n"
    let answer = try await ask(listener, request)
    #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 431 "))
    #expect(login.hits.isEmpty)
    #expect(try await ask(listener, Self.good).hasPrefix("HTTP/1.1 303 "))
    await listener.close()
  }

  @Test("A request just within 16 KiB reaches the login whole")
  func nearLimit() async throws {
    let login = Login()
    let listener = try await listen(login)
    let filler = String(repeating: "a", count: 16_000)
    _ = try await ask(listener, "GET /callback?code=\(filler) HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n")
    #expect(login.hits.first?.target == "/callback?code=\(filler)")
    await listener.close()
  }

  @Test("A client that does not finish its request keeps nobody out")
  func slow() async throws {
    let listener = try await listen(Login())
    let slow = try await RawClient(port: listener.port)
    try await slow.send("GET /callback?code=SEC")
    #expect(try await ask(listener, Self.good).hasPrefix("HTTP/1.1 303 "))
    await slow.close()
    await listener.close()
  }

  @Test("Connections beyond the bound push the oldest silent one out")
  func manyConnections() async throws {
    let listener = try await listen(Login())
    var silent: [RawClient] = []
    for _ in 0..<40 { silent.append(try await RawClient(port: listener.port)) }
    #expect(try await ask(listener, Self.good).hasPrefix("HTTP/1.1 303 "))
    #expect(try await silent[0].received().isEmpty)
    for client in silent { await client.close() }
    await listener.close()
  }

  @Test("Hits are judged one at a time, and after the end there is only the landing page")
  func oneAtATime() async throws {
    let login = Login()
    let running = Atomic<Int>(0)
    let receiver = try redirectReceiver(limits: limits())
    let listener = try await receiver.listen(host: "127.0.0.1", port: 0) { hit in
      #expect(running.add(1, ordering: .relaxed).newValue == 1)
      await Task.yield()
      let page = await login.judge(hit)
      running.subtract(1, ordering: .relaxed)
      return page
    }
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<8 { group.addTask { try await ask(listener, Self.good) } }
      var statuses: [Substring] = []
      for try await answer in group { statuses.append(answer.prefix(12)) }
      #expect(statuses.count { $0 == "HTTP/1.1 303" } == 1)
      #expect(statuses.count { $0 == "HTTP/1.1 404" } == 7)
    }
    #expect(login.hits.count == 1)
    await listener.close()
  }

  @Test("A port that is taken is named, and nothing but loopback is listened on")
  func errors() async throws {
    let listener = try await listen(Login())
    let error = await #expect(throws: RedirectListenerError.self) { try await listen(Login(), port: listener.port) }
    #expect(error?.message.contains("port \(listener.port) on 127.0.0.1 is in use") == true)
    for host in ["0.0.0.0", "::", "192.0.2.1", "localhost", "127.evil.example", ""] {
      await #expect(throws: RedirectListenerError.self) { try await listen(Login(), host: host) }
    }
    await #expect(throws: RedirectListenerError.self) { try await listen(Login(), port: 65_536) }
    await listener.close()
  }

  @Test("One function escapes text for HTML")
  func escaping() {
    #expect(
      HTMLText.escaped("<a href=\"x\" id='y'>&\0\u{1b}\u{9b}é")
        == "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;   é")
  }
}

extension String {
  fileprivate func replacingPort(_ port: Int) -> String {
    var result = ""
    var rest = self[...]
    while let colon = rest.firstIndex(of: ":") {
      let after = rest.index(after: colon)
      result += rest[..<after]
      rest = rest[after...]
      if rest.hasPrefix("PORT") {
        result += String(port)
        rest = rest.dropFirst(4)
      }
    }
    return result + rest
  }
}
