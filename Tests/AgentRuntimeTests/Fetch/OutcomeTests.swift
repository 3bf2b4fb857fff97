import Foundation
import OAuthProtocol
import Sealing
import Testing

@testable import AgentRuntime

/// One way a server treats a POST, and what must come of it.
struct Treatment: Sendable, CustomTestStringConvertible {
  var name: String
  var expected: [Verdict]
  /// Requests that arrive whole.
  var arrivals: Int
  var timeoutMilliseconds = 10_000
  var behaviour: @Sendable (Connection) -> Void

  var testDescription: String { name }

  /// After the whole request was read, sends this.
  static func answers(
    _ name: String, _ expected: Verdict, timeoutMilliseconds: Int = 60_000,
    _ answer: @escaping @Sendable (Connection) -> Void
  ) -> Treatment {
    Treatment(name: name, expected: [expected], arrivals: 1, timeoutMilliseconds: timeoutMilliseconds) { connection in
      connection.readRequest()
      answer(connection)
    }
  }

  static let all: [Treatment] = [
    // The close may be seen before or after the body was handed over: both are the truth then.
    Treatment(
      name: "closes at once", expected: [.sentNoAnswer(.connection), .notSent(.connection)], arrivals: 0,
      behaviour: { _ in }),
    Treatment(
      name: "resets at once", expected: [.sentNoAnswer(.connection), .notSent(.connection)], arrivals: 0,
      behaviour: { $0.reset() }),
    Treatment(
      name: "never reads", expected: [.sentNoAnswer(.timeout)], arrivals: 0, timeoutMilliseconds: 2_000,
      behaviour: { _ in usleep(4_000_000) }),
    answers("closes after the request", .sentNoAnswer(.connection)) { _ in },
    answers("resets after the request", .sentNoAnswer(.connection)) { $0.reset() },
    answers("never answers", .sentNoAnswer(.timeout), timeoutMilliseconds: 4_000) { $0.hang() },
    answers("closes inside the status line", .sentNoAnswer(.connection)) { $0.send("HTTP/1.1 20") },
    answers("closes inside the head", .sentNoAnswer(.connection)) { $0.send("HTTP/1.1 200 OK\r\nContent-Le") },
    answers("closes inside the body", .sentNoAnswer(.connection)) {
      $0.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"access_token\":")
    },
    answers("closes inside a chunk", .sentNoAnswer(.connection)) {
      $0.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{\"access")
    },
    answers("drips a byte at a time", .sentNoAnswer(.timeout), timeoutMilliseconds: 2_000) { connection in
      for byte in "HTTP/1.1 200 OK\r\nX-Drip: aaaaaaaaaaaaaaaaaaaaaaaaaaa".utf8 {
        connection.send([byte])
        usleep(100_000)
      }
    },
    answers("is no HTTP server", .sentNoAnswer(.malformed)) { $0.send("220 mail.example ESMTP\r\n") },
    answers("sends random bytes", .sentNoAnswer(.malformed)) {
      $0.send((0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 97) })
    },
    // libcurl has one code for this and for a broken connection.
    answers("sends a broken chunk size", .sentNoAnswer(.connection)) {
      $0.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
    },
    answers("announces 2 MiB", .sentNoAnswer(.tooLarge)) {
      $0.send("HTTP/1.1 200 OK\r\nContent-Length: 2097152\r\n\r\n")
      $0.send([UInt8](repeating: 0x61, count: 2 << 20))
    },
    answers("sends 2 MiB without a length", .sentNoAnswer(.tooLarge)) {
      $0.send("HTTP/1.1 200 OK\r\n\r\n")
      $0.send([UInt8](repeating: 0x61, count: 2 << 20))
    },
    answers("sends 100 KiB of head", .sentNoAnswer(.tooLarge)) { connection in
      connection.send("HTTP/1.1 200 OK\r\n")
      for index in 0..<100 { connection.send("X-\(index): \(String(repeating: "v", count: 1_020))\r\n") }
      connection.send("\r\n")
    },
    answers("sends a line of 4 MiB in its head", .sentNoAnswer(.tooLarge)) { connection in
      connection.send("HTTP/1.1 200 OK\r\nX: ")
      connection.send([UInt8](repeating: 0x61, count: 4 << 20))
    },
    answers("sends 300 short fields", .sentNoAnswer(.tooLarge)) { connection in
      connection.send("HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 300) + "\r\n")
    },
    answers("floods with interim answers", .sentNoAnswer(.tooLarge)) { connection in
      for _ in 0..<4_000 { connection.send("HTTP/1.1 103 Early Hints\r\n\r\n") }
      connection.hang()
    },
    answers("redirects", .answered(302)) {
      $0.send(
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:\($0.server.port)/elsewhere\r\nContent-Length: 0\r\n\r\n")
    },
    answers("asks for credentials", .answered(401)) {
      $0.send("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
    },
    answers("answers 204", .answered(204)) { $0.send("HTTP/1.1 204 No Content\r\n\r\n") },
    answers("answers 417", .answered(417)) { $0.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n") },
    answers("answers 421", .answered(421)) { $0.send("HTTP/1.1 421 Misdirected Request\r\nContent-Length: 0\r\n\r\n") },
    answers("answers in chunks", .answered(200)) {
      $0.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\nTrailer: x\r\n\r\n")
    },
    answers("answers after an interim answer", .answered(200)) {
      $0.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    },
    answers("sends two answers", .answered(200)) {
      $0.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n[]")
    },
  ]
}

@Suite("What becomes of a POST")
struct OutcomeTests {
  @Test("A server that", arguments: Treatment.all)
  func treatment(_ treatment: Treatment) async throws {
    let server = try HostileServer(treatment.behaviour)
    defer { server.stop() }
    let route = HTTPRoute(timeoutMilliseconds: treatment.timeoutMilliseconds)
    let outcome = await fetch.perform(post(server.url), route: route)
    #expect(treatment.expected.contains(Verdict(outcome)), "\(outcome)")
    // Nothing is sent twice, whatever happens, and nobody follows a redirect.
    #expect(server.connections == 1)
    #expect(server.requests.count == treatment.arrivals)
  }

  @Test("A refused connection was not sent")
  func refused() async throws {
    let (socket, port) = try HostileServer.listen(backlog: nil)
    defer { close(socket) }
    let outcome = await fetch.perform(post("http://127.0.0.1:\(port)/"), route: HTTPRoute())
    #expect(Verdict(outcome) == .notSent(.connection), "\(outcome)")
  }

  @Test("A connection that is never accepted was not sent")
  func connectTimeout() async throws {
    // The queue of a listener with a backlog of 0 holds one connection; after that the kernel drops what comes.
    let (listener, port) = try HostileServer.listen(backlog: 0)
    let fillers = (0..<4).map { _ in HostileServer.startConnecting(to: port) }
    defer { for socket in fillers + [listener] { close(socket) } }
    let route = HTTPRoute(connectTimeoutMilliseconds: 300, timeoutMilliseconds: 5_000)
    let outcome = await fetch.perform(post("http://127.0.0.1:\(port)/"), route: route)
    #expect(Verdict(outcome) == .notSent(.timeout), "\(outcome)")
  }

  @Test("An unknown host was not sent")
  func unknownHost() async {
    let outcome = await fetch.perform(post("https://nonexistent.invalid/token"), route: HTTPRoute())
    #expect(Verdict(outcome) == .notSent(.nameResolution), "\(outcome)")
  }

  @Test(
    "Plain http beyond loopback, other schemes and user names in URLs are refused before anything is sent",
    arguments: [
      "http://192.0.2.1/", "http://as.example/", "http://127.0.0.1.as.example/", "http://user:pass@127.0.0.1/",
      "ftp://127.0.0.1/", "https://user@as.example/", "http://[::2]/", "http://127.0.0.1:x/", "https://", "",
    ])
  func refusedURL(url: String) async {
    let outcome = await fetch.perform(post(url), route: HTTPRoute())
    #expect(Verdict(outcome) == .notSent(.malformed), "\(outcome)")
  }

  @Test("The request arrives as it was asked for, with nothing added but what the transport owns")
  func requestOnTheWire() async throws {
    let server = try HostileServer {
      $0.readRequest()
      $0.send(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Two: a\r\nX-Two:  b \r\nContent-Length: 12\r\n\r\n{\"a\":\"\u{e9}\"}\r\n"
      )
    }
    defer { server.stop() }
    let request = post(server.url + "/../x?y=z", "a=b", headers: [HTTPField("Authorization", "Basic Zm9v")])
    let outcome = await fetch.perform(request, route: HTTPRoute())
    #expect(
      server.requests == [
        "POST /token/../x?y=z HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nAccept-Encoding: identity\r\n"
          + "Content-Type: application/x-www-form-urlencoded\r\nAuthorization: Basic Zm9v\r\nUser-Agent: oauthd/test\r\n"
          + "Content-Length: 3\r\n\r\na=b"
      ])
    let answer = try #require(outcome.answer)
    #expect(answer.status == 200)
    #expect(answer.headers.values("x-two") == ["a", "b"])
    #expect(answer.headers.value("CONTENT-TYPE") == "application/json")
    #expect(answer.body == Secret("{\"a\":\"\u{e9}\"}\r\n"))
  }

  @Test(
    "A GET and a POST without a body count as sent once their head may leave",
    arguments: [HTTPRequest.Method.get, .post])
  func withoutBody(method: HTTPRequest.Method) async throws {
    let silent = try HostileServer { connection in
      connection.readRequest()
    }
    defer { silent.stop() }
    let outcome = await fetch.perform(HTTPRequest(method, silent.url), route: HTTPRoute())
    #expect(Verdict(outcome) == .sentNoAnswer(.connection), "\(outcome)")
    #expect(silent.requests.count == 1)
    #expect(silent.requests.first?.hasPrefix("\(method.rawValue) /token HTTP/1.1\r\n") == true)
  }

  @Test("A body of 200 KiB arrives whole, and 1 MiB comes back")
  func largeBodies() async throws {
    let server = try HostileServer {
      $0.readRequest()
      $0.send("HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n")
      $0.send([UInt8](repeating: 0x7A, count: 1 << 20))
    }
    defer { server.stop() }
    let body = String(repeating: "q", count: 200 << 10)
    let outcome = await fetch.perform(post(server.url, body), route: HTTPRoute())
    #expect(server.requests.first?.hasSuffix(body) == true)
    #expect(outcome.answer?.body == Secret(repeatElement(0x7A, count: 1 << 20)))
  }

  @Test("Nothing a server or a name says reaches an error text unescaped")
  func escapedText() async throws {
    let server = try HostileServer {
      $0.readRequest()
      $0.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: \u{1b}]0;x\u{7}\u{202e}\r\n\r\n")
    }
    defer { server.stop() }
    let outcome = await fetch.perform(post(server.url), route: HTTPRoute())
    let text = outcome.failure?.message ?? ""
    #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(outcome)")
  }
}
