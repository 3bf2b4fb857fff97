import Foundation
import OAuthProtocol
import Sealing
import Testing

@testable import AgentRuntime

@Suite("TLS and proxies")
struct TLSAndProxyTests {
  @Test("A private authority is trusted when named, its server refused when not; nothing is sent to who is not trusted")
  func privateAuthority() async throws {
    let authority = try await TestAuthority()
    defer { authority.remove() }
    try await authority.issue("server", for: "IP:127.0.0.1")
    let server = try await TLSServer(authority, certificate: "server")
    defer { server.stop() }
    let url = "https://127.0.0.1:\(server.port)/token"
    let distrusted = await fetch.perform(post(url), route: HTTPRoute())
    #expect(Verdict(distrusted) == .notSent(.untrusted), "\(distrusted)")
    let gone = NamedAuthority(file: "/nonexistent/ca.pem", digest: "")
    let wrongFile = await fetch.perform(post(url), route: HTTPRoute(authority: gone))
    #expect(Verdict(wrongFile) == .notSent(.authority), "\(wrongFile)")
    #expect(!server.log.contains("POST"))
    let trusted = await fetch.perform(post(url), route: HTTPRoute(authority: try authority.named()))
    #expect(Verdict(trusted) == .answered(200), "\(trusted)")
    #expect(server.log.components(separatedBy: "POST /token").count == 2)
  }

  @Test("A file that holds another authority than was agreed to is not used, though the server is of it")
  func changedAuthority() async throws {
    let (agreed, other) = (try await TestAuthority(), try await TestAuthority())
    defer { [agreed, other].forEach { $0.remove() } }
    try await other.issue("server", for: "IP:127.0.0.1")
    let server = try await TLSServer(other, certificate: "server")
    defer { server.stop() }
    let named = try agreed.named()
    try Data(contentsOf: URL(fileURLWithPath: other.file)).write(to: URL(fileURLWithPath: agreed.file))
    let outcome = await fetch.perform(
      post("https://127.0.0.1:\(server.port)/token"), route: HTTPRoute(authority: named))
    #expect(Verdict(outcome) == .notSent(.authority), "\(outcome)")
    #expect(server.log.isEmpty || !server.log.contains("POST"))
  }

  @Test("A file without a certificate in it trusts nobody", arguments: ["no PEM\n", "-----BEGIN CERTIFICATE-----\n"])
  func noCertificate(text: String) async throws {
    let authority = try await TestAuthority()
    defer { authority.remove() }
    try await authority.issue("server", for: "IP:127.0.0.1")
    let server = try await TLSServer(authority, certificate: "server")
    defer { server.stop() }
    try Data(text.utf8).write(to: URL(fileURLWithPath: authority.file))
    let route = HTTPRoute(authority: try authority.named())
    let outcome = await fetch.perform(post("https://127.0.0.1:\(server.port)/"), route: route)
    #expect(Verdict(outcome) == .notSent(.authority), "\(outcome)")
    #expect(!server.log.contains("POST"))
  }

  @Test(
    "Certificates and protocols that are not good enough are refused before the request",
    arguments: [
      ("another name", "DNS:other.test", 2, [String](), HTTPFailure.Reason.otherName),
      ("expired", "IP:127.0.0.1", -1, [], .tls),
      ("TLS 1.1", "IP:127.0.0.1", 2, ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], .tls),
    ])
  func notGoodEnough(
    name: String, subject: String, days: Int, options: [String], reason: HTTPFailure.Reason
  ) async throws {
    let authority = try await TestAuthority()
    defer { authority.remove() }
    try await authority.issue("server", for: subject, days: days)
    let server = try await TLSServer(authority, certificate: "server", options: options)
    defer { server.stop() }
    let route = HTTPRoute(authority: try authority.named())
    let outcome = await fetch.perform(post("https://127.0.0.1:\(server.port)/"), route: route)
    #expect(Verdict(outcome) == .notSent(reason), "\(outcome)")
    #expect(!server.log.contains("POST"))
  }

  @Test("A server that speaks no TLS was sent nothing")
  func plainServer() async throws {
    let server = try HostileServer { $0.send("HTTP/1.1 400 Bad Request\r\n\r\n") }
    defer { server.stop() }
    let outcome = await fetch.perform(post("https://127.0.0.1:\(server.port)/"), route: HTTPRoute())
    #expect(Verdict(outcome) == .notSent(.notTLS), "\(outcome)")
  }

  @Test("A proxy is asked for a tunnel and sees nothing of the request")
  func tunnel() async throws {
    let authority = try await TestAuthority()
    defer { authority.remove() }
    try await authority.issue("server", for: "IP:127.0.0.1")
    let server = try await TLSServer(authority, certificate: "server")
    defer { server.stop() }
    let heads = AsyncStream.makeStream(of: String.self)
    let target = server.port
    let proxy = try HostileServer {
      heads.continuation.yield($0.readHead())
      $0.relay(to: target)
    }
    defer { proxy.stop() }
    let route = HTTPRoute(
      authority: try authority.named(), proxy: "http://user:secret@127.0.0.1:\(proxy.port)")
    let outcome = await fetch.perform(post("https://127.0.0.1:\(target)/token"), route: route)
    #expect(Verdict(outcome) == .answered(200), "\(outcome)")
    heads.continuation.finish()
    let seen = await heads.stream.reduce(into: []) { $0.append($1) }
    #expect(seen.count == 1 && seen.first?.hasPrefix("CONNECT 127.0.0.1:\(target) HTTP/1.1\r\n") == true)
    #expect(seen.first?.contains("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n") == true)
    #expect(server.log.contains("POST /token HTTP/1.1") && !server.log.contains("Proxy-Authorization"))
  }

  @Test(
    "A proxy that fails was sent nothing",
    arguments: [
      ("refuses", "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", Verdict.notSent(.proxy)),
      ("forbids", "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", .notSent(.proxy)),
      ("closes", "", .notSent(.proxy)),
      ("babbles", "hello\r\n\r\n", .notSent(.proxy)),
      ("hangs", "wait", .notSent(.timeout)),
    ])
  func failingProxy(name: String, answer: String, expected: Verdict) async throws {
    let proxy = try HostileServer {
      _ = $0.readHead()
      if answer == "wait" { $0.hang() } else { $0.send(answer) }
    }
    defer { proxy.stop() }
    let patience = answer == "wait" ? 400 : 60_000
    let route = HTTPRoute(proxy: "http://127.0.0.1:\(proxy.port)", connectTimeoutMilliseconds: patience)
    let outcome = await fetch.perform(post("https://as.example/token"), route: route)
    #expect(Verdict(outcome) == expected, "\(outcome)")
    #expect(proxy.connections == 1)
  }

  @Test("A proxy that is not there was sent nothing", arguments: ["http://127.0.0.1:", "http://nonexistent.invalid:"])
  func missingProxy(prefix: String) async throws {
    let (socket, port) = try HostileServer.listen(backlog: nil)
    defer { close(socket) }
    let outcome = await fetch.perform(post("https://as.example/token"), route: HTTPRoute(proxy: prefix + "\(port)"))
    #expect(Verdict(outcome) == .notSent(.proxy), "\(outcome)")
  }

  @Test("Plain http on loopback never goes to the proxy")
  func loopbackBypass() async throws {
    let proxy = try HostileServer { _ in }
    let server = try HostileServer {
      $0.readRequest()
      $0.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    }
    defer {
      proxy.stop()
      server.stop()
    }
    let outcome = await fetch.perform(post(server.url), route: HTTPRoute(proxy: "http://127.0.0.1:\(proxy.port)"))
    #expect(Verdict(outcome) == .answered(200), "\(outcome)")
    #expect(proxy.connections == 0)
  }
}
