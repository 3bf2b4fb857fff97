import HTTPTerms
import OAuthProtocol
import Sealing
import Testing

/// A world of documents by URL; what is not in it answers 404.
private struct World {
  var answers: [String: HTTPAnswer] = [:]
  /// The issuer's other spelling has the same places.
  var mayRepeat = false
  private(set) var asked: [String] = []
  /// Those that went to public addresses alone.
  private(set) var publicOnly: [String] = []
  /// What lies in a private network.
  var atPrivateAddresses: Set<String> = []

  init(_ answers: [String: HTTPAnswer]) { self.answers = answers }

  /// What a search ends with, having asked no URL twice.
  mutating func search(_ url: String) throws -> ServerSearch.Step {
    var search = try ServerSearch(url)
    var next = search.first
    while true {
      #expect(mayRepeat || !asked.contains(next.url))
      #expect(next.method == .get && next.credentials == nil)
      asked.append(next.url)
      if next.isPublicOnly { publicOnly.append(next.url) }
      var answer = answers[next.url] ?? answer(404, "")
      answer.isFromPublicAddress = !atPrivateAddresses.contains(next.url)
      let step = search.judge(.answered(answer), now: 0)
      guard case .ask(let request) = step else { return step }
      next = request
    }
  }

  mutating func found(_ url: String) throws -> ServerSearch.Found {
    let step = try search(url)
    guard case .found(let found) = step else { throw NotFound(text: "\(step)") }
    return found
  }

  mutating func failure(_ url: String) throws -> SearchFailure? {
    if case .failed(let failure) = try search(url) { failure } else { nil }
  }
}

private struct NotFound: Error { let text: String }

private func metadata(_ issuer: String, more: String = "") -> HTTPAnswer {
  answer(200, #"{"issuer":"\#(issuer)","token_endpoint":"https://as.example/t"\#(more)}"#)
}

private func resource(_ url: String, _ servers: String..., scopes: String = "") -> HTTPAnswer {
  let list = servers.map { "\"\($0)\"" }.joined(separator: ",")
  return answer(200, #"{"resource":"\#(url)","authorization_servers":[\#(list)]\#(scopes)}"#)
}

private func challenge(_ text: String) -> HTTPAnswer { answer(401, "", [HTTPField("WWW-Authenticate", text)]) }

@Suite("Searching the server behind a URL")
struct ServerSearchTests {
  private static let issuer = "https://as.example/.well-known/oauth-authorization-server"
  private static let place = "https://api.example/.well-known/oauth-protected-resource"

  @Test(
    "the issuer itself, in whatever spelling of its final slash",
    arguments: ["https://as.example", "https://as.example/"], ["https://as.example", "https://as.example/"])
  func issuerItself(typed: String, spelled: String) throws {
    var world = World([Self.issuer: metadata(spelled)])
    world.mayRepeat = true
    let found = try world.found(typed)
    #expect(found.metadata.issuer?.text == spelled && found.resource == nil && world.asked.count <= 4)
  }

  @Test("a challenge names the metadata, the scope of the login, and by that the server (RFC 9728 §5.1)")
  func challenged() throws {
    var world = World([
      "https://api.example/mcp": challenge(
        #"Basic realm="x", Bearer resource_metadata="https://api.example/prm", scope="a b""#),
      "https://api.example/prm": resource(
        "https://api.example/mcp", "https://as.example", scopes: #","scopes_supported":["c"]"#),
      Self.issuer: metadata("https://as.example", more: #","registration_endpoint":"https://as.example/r""#),
    ])
    let found = try world.found("https://api.example/mcp")
    #expect(found.resource?.text == "https://api.example/mcp" && found.scope == ["a", "b"])
    #expect(found.metadata.registrationEndpoint?.text == "https://as.example/r")
    #expect(world.asked == ["https://api.example/mcp", "https://api.example/prm", Self.issuer])
  }

  @Test("without such a word the well-known places are asked, the path's before the root's (RFC 9728 §3.1)")
  func wellKnown() throws {
    for first in [true, false] {
      var world = World([
        "https://api.example/v1/mcp": challenge("Bearer"),
        Self.place + (first ? "/v1/mcp" : ""): resource(
          first ? "https://api.example/v1/mcp" : "https://api.example", "https://as.example",
          scopes: #","scopes_supported":["c"]"#),
        Self.issuer: metadata("https://as.example"),
      ])
      let found = try world.found("https://api.example/v1/mcp")
      #expect(found.scope == ["c"] && found.resource?.text == "https://api.example" + (first ? "/v1/mcp" : ""))
      #expect(world.asked[1] == Self.place + "/v1/mcp")
    }
  }

  @Test("what answers no challenge is tried as an issuer, then as a resource, then the root of its host")
  func order() throws {
    var world = World([:])
    let failure = try #require(try world.failure("https://api.example/mcp"))
    #expect(
      world.asked == [
        "https://api.example/mcp", "https://api.example/.well-known/oauth-authorization-server/mcp",
        "https://api.example/.well-known/openid-configuration/mcp",
        "https://api.example/mcp/.well-known/openid-configuration", Self.place + "/mcp", Self.place,
        "https://api.example/.well-known/oauth-authorization-server",
        "https://api.example/.well-known/openid-configuration",
      ])
    #expect(!failure.isTransient && failure.description.hasPrefix("https://api.example/mcp is neither"))
    var old = World(["https://api.example/.well-known/oauth-authorization-server": metadata("https://api.example")])
    #expect(try old.found("https://api.example/mcp").metadata.issuer?.text == "https://api.example")
  }

  @Test("the next server is tried where one has no metadata, four at most")
  func severalServers() throws {
    var world = World([
      "https://api.example/": challenge("Bearer"),
      Self.place: resource("https://api.example/", "https://gone.example", "https://as.example"),
      Self.issuer: metadata("https://as.example"),
    ])
    #expect(try world.found("https://api.example/").metadata.issuer?.text == "https://as.example")
    let many = (0..<9).map { "\"https://as\($0).example\"" }.joined(separator: ",")
    world = World([
      "https://api.example/": challenge("Bearer"),
      Self.place: answer(200, #"{"resource":"https://api.example/","authorization_servers":[\#(many)]}"#),
    ])
    _ = try world.failure("https://api.example/")
    #expect(
      world.asked.count { $0.contains("as3.example") } > 0 && !world.asked.contains { $0.contains("as4.example") })
  }

  @Test(
    "a document of another resource, or that leads to this machine, is refused, and nothing else is asked",
    arguments: [
      #"{"resource":"https://other.example/mcp","authorization_servers":["https://as.example"]}"#,
      #"{"resource":"https://api.example/mcp2","authorization_servers":["https://as.example"]}"#,
      #"{"resource":"https://api.example/mc","authorization_servers":["https://as.example"]}"#,
      #"{"resource":"http://api.example/mcp","authorization_servers":["https://as.example"]}"#,
      #"{"resource":"https://api.example/mcp","authorization_servers":["http://127.0.0.1:8080"]}"#,
      #"{"resource":"https://api.example/mcp","authorization_servers":["https://localhost"]}"#,
      #"{"resource":"https://api.example/mcp","authorization_servers":["https://[::]:9443"]}"#,
      #"{"resource":"https://api.example/mcp","authorization_servers":["https://a.localhost"]}"#,
      #"{"resource":"https://api.example/mcp","authorization_servers":["file:///etc/passwd"]}"#,
      #"{"resource":"https://api.example/mcp","authorization_servers":["https://as.example\u001b[2J"]}"#,
      #"{"resource":"https://api.example/mcp","authorization_servers":[]}"#,
      #"{"resource":"https://api.example/mcp","authorization_servers":"https://as.example"}"#,
      #"{"resource":"https://api.example/mcp"}"#,
    ])
  func refused(document: String) throws {
    var world = World([
      "https://api.example/mcp": challenge("Bearer"), Self.place + "/mcp": answer(200, document),
      Self.issuer: metadata("https://as.example"),
    ])
    let failure = try #require(try world.failure("https://api.example/mcp"))
    #expect(world.asked.count == 2 && !failure.description.utf8.contains(0x1B))
  }

  @Test(
    "a challenge that leads to this machine is not followed",
    arguments: ["http://127.0.0.1:1/x", "https://0.0.0.0/x", "https://[::ffff:127.0.0.1]/x", "file:///x", "x"])
  func hostileChallenge(place: String) throws {
    var world = World([
      "https://api.example/mcp": challenge("Bearer resource_metadata=\"\(place)\""),
      Self.place + "/mcp": resource("https://api.example/mcp", "https://as.example"),
      Self.issuer: metadata("https://as.example"),
    ])
    #expect(try world.found("https://api.example/mcp").metadata.issuer?.text == "https://as.example")
    #expect(!world.asked.contains(place))
  }

  @Test("a document that a challenge names speaks of that address alone: somebody else's may lie above it")
  func wider() throws {
    var world = World([
      "https://api.example/~eve/mcp": challenge(#"Bearer resource_metadata="https://api.example/~eve/prm""#),
      "https://api.example/~eve/prm": resource("https://api.example", "https://as.example"),
      Self.issuer: metadata("https://as.example"),
    ])
    #expect(try world.failure("https://api.example/~eve/mcp") != nil && world.asked.count == 2)
  }

  @Test("what a document out there names is reached at public addresses alone, and the typed host wherever it is")
  func publicOnly() throws {
    var world = World([
      "https://api.example/mcp": challenge(#"Bearer resource_metadata="https://prm.example/""#),
      "https://prm.example/": resource("https://api.example/mcp", "https://as.example"),
      Self.issuer: metadata("https://as.example"),
    ])
    _ = try world.found("https://api.example/mcp")
    #expect(world.publicOnly == ["https://prm.example/", Self.issuer])
    // The typed host is what a person named.
    world = World([
      "https://as.example/mcp": challenge(#"Bearer resource_metadata="https://as.example/prm""#),
      "https://as.example/prm": resource("https://as.example/mcp", "https://as.example"),
      Self.issuer: metadata("https://as.example"),
    ])
    _ = try world.found("https://as.example/mcp")
    #expect(world.asked.count == 3 && world.publicOnly.isEmpty)
  }

  @Test("a document within a private network may name its neighbours, and one that it names out there may not")
  func neighbours() throws {
    var world = World([
      "https://api.example/mcp": challenge(#"Bearer resource_metadata="https://prm.example/""#),
      "https://prm.example/": resource("https://api.example/mcp", "https://as.example"),
      Self.issuer: metadata("https://as.example"),
    ])
    world.atPrivateAddresses = ["https://api.example/mcp"]
    let found = try world.found("https://api.example/mcp")
    #expect(world.publicOnly == [Self.issuer] && found.metadata.isFromPublicAddress)
    var inside = World(world.answers)
    inside.atPrivateAddresses = ["https://api.example/mcp", "https://prm.example/", Self.issuer]
    #expect(try !inside.found("https://api.example/mcp").metadata.isFromPublicAddress)
    #expect(inside.publicOnly.isEmpty)
  }

  @Test("a private address behind a name is no outage: nobody is told to try again")
  func privateAddress() throws {
    var search = try ServerSearch("https://api.example/mcp")
    var next = search.judge(.answered(challenge(#"Bearer resource_metadata="https://prm.example/""#)), now: 0)
    var asked = 1
    while case .ask(let request) = next, asked < ServerSearch.requestLimit {
      asked += 1
      next = search.judge(
        request.isPublicOnly ? .notSent(HTTPFailure(.privateAddress, "private")) : .answered(answer(404, "")), now: 0)
    }
    guard case .failed(let failure) = next else {
      Issue.record("it went on")
      return
    }
    #expect(!failure.isTransient && failure.description.contains("private"))
  }

  @Test("a server that cannot be reached ends the search at once")
  func unreachable() throws {
    var search = try ServerSearch("https://api.example/mcp")
    guard case .failed(let failure) = search.judge(.notSent(HTTPFailure(.connection, "refused")), now: 0) else {
      Issue.record("it went on")
      return
    }
    #expect(failure.unreachable?.reason == .connection)
  }
}
