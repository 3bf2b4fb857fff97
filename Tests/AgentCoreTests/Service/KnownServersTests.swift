import OAuthProtocol
import Testing

@testable import AgentCore

@Suite("What is known of servers")
struct KnownServersTests {
  private static let route = ServerRoute("https://login.example.com/token", HTTPRoute())

  /// What a failure of each of so many accounts changes.
  private func fail(_ servers: inout KnownServers, _ count: Int) -> [String] {
    (0..<count).map { word(servers.note(.failure("no route"), of: Self.route, for: "a\($0)", at: 100, spread: 0.5)) }
  }

  private func word(_ change: KnownServers.Change) -> String {
    switch change {
    case .nothing: "nothing"
    case .isDead: "is dead"
    case .staysDead: "stays dead"
    case .isBack: "is back"
    }
  }

  @Test("a server is the same for all who reach it the same way, by its origin, proxy and authority")
  func routes() {
    var servers = KnownServers()
    let server = servers.server(Self.route)
    #expect(servers.server(ServerRoute("https://LOGIN.example.com:443/revoke", HTTPRoute())) === server)
    #expect(servers.server(ServerRoute("https://login.example.com/token", HTTPRoute(proxy: "http://p:1"))) !== server)
    #expect(servers.server(ServerRoute("https://api.example.com/token", HTTPRoute())) !== server)
    #expect(servers.all.count { _ in true } == 3)
  }

  @Test("the fifth account in a row finds it dead, later ones find it still dead, and any answer brings it back")
  func news() {
    var servers = KnownServers()
    #expect(fail(&servers, 6) == ["nothing", "nothing", "nothing", "nothing", "is dead", "stays dead"])
    #expect(
      servers.conditions == ["https://login.example.com cannot be reached (no route); one account at a time tries"])
    #expect(word(servers.note(.answer, of: Self.route, for: "b", at: 101, spread: 0.5)) == "is back")
    #expect(servers.conditions.isEmpty)
    #expect(word(servers.note(.answer, of: Self.route, for: "b", at: 101, spread: 0.5)) == "nothing")
  }

  @Test("of a server that only answers nothing is kept")
  func unknown() {
    var servers = KnownServers()
    _ = servers.note(.answer, of: Self.route, for: "a", at: 100, spread: 0.5)
    #expect(servers[Self.route] == nil)
    _ = servers.note(.failure("no route"), of: Self.route, for: "a", at: 100, spread: 0.5)
    #expect(servers[Self.route] != nil)
  }

  @Test("accounts wait at a dead server, all but the one that tries; those somebody asks for are tried first")
  func parked() {
    var servers = KnownServers()
    let server = servers.server(Self.route)
    #expect(!server.park("a", isAsked: true), "it can be reached")
    _ = fail(&servers, 5)
    server.circuit.began("probe")
    #expect(!server.park("probe", isAsked: true))
    #expect(server.park("a", isAsked: true) && server.park("b", isAsked: false) && server.park("c", isAsked: false))
    #expect(server.askers == ["a"] && server.parked == ["a", "b", "c"])
    let candidates = server.candidates(most: 1)
    #expect(candidates.contains("a") && candidates.count <= 2)
    #expect(server.park("a", isAsked: false))
    #expect(server.askers.isEmpty, "nobody asks any more")
    server.unpark("b")
    #expect(server.release() == ["a", "c"])
    #expect(server.parked.isEmpty && server.release().isEmpty)
  }

  @Test("plans that wait longer than tokens live are told, until the wait is half as long")
  func lag() {
    var servers = KnownServers()
    let server = servers.server(Self.route)
    server.noteWait(50, lifeSeconds: 60)
    #expect(servers.conditions.isEmpty)
    server.noteWait(70, lifeSeconds: 60)
    server.noteWait(40, lifeSeconds: 60)
    #expect(
      servers.conditions
        == ["https://login.example.com: refreshes take longer than tokens live (they wait 70 s for their turn)"])
    server.noteWait(29, lifeSeconds: 60)
    #expect(servers.conditions.isEmpty)
  }

  @Test("a clock that is far from this machine's is told with its host")
  func clocks() {
    var servers = KnownServers()
    let now = Moment.start
    servers.server(Self.route).clock = ServerClock(
      dateSeconds: Int64(now.wallSeconds) + 10_800, sent: now, received: now)
    let remarks = servers.clockRemarks(at: now)
    #expect(remarks.map(\.host) == ["login.example.com"])
    #expect(remarks.first?.text.contains("behind that of login.example.com") == true)
  }
}
