import AgentTestSupport
import FoundationEssentials
import HTTPTerms
import OAuthProtocol
import OAuthTerms
import Sealing
import Synchronization
import Testing

@testable import AgentCore

extension ScriptedTransport.Sent {
  /// The claims of the proof.
  fileprivate var claims: [String: String] {
    let parts = (request.headers.value("DPoP") ?? "").split(separator: ".")
    guard parts.count == 3, let payload = Base64URL.decode(String(parts[1])) else { return [:] }
    struct Claims: Decodable {
      var htm, htu, jti: String
      var iat: Int64
      var nonce: String?
      var ath: String?
    }
    guard let claims = try? JSONDecoder().decode(Claims.self, from: Data(payload)) else { return [:] }
    var found = ["htm": claims.htm, "htu": claims.htu, "jti": claims.jti, "iat": String(claims.iat)]
    found["nonce"] = claims.nonce
    found["ath"] = claims.ath
    return found
  }
}

@Suite("Requests to an authorization server with a proof of possession")
struct ProvenExchangeTests {
  private let clock = ManualClock()
  private let nonces = ServerNonces()

  private static func wants(_ nonce: String, status: Int = 400) -> HTTPOutcome {
    .answered(
      HTTPAnswer(
        status: status, headers: [HTTPField("DPoP-Nonce", nonce)], body: Secret(#"{"error":"use_dpop_nonce"}"#)))
  }

  private static let granted = HTTPOutcome.answered(
    HTTPAnswer(
      status: 200, headers: [HTTPField("DPoP-Nonce", "next")],
      body: Secret(#"{"access_token":"a","token_type":"DPoP"}"#)))

  private func key() throws -> Secret { try ProofKey.made(for: .es256, "work") }

  private func perform(
    _ transport: ScriptedTransport, _ key: Secret?, route: HTTPRoute = HTTPRoute(timeoutMilliseconds: 60_000)
  ) async throws -> (request: HTTPRequest, outcome: HTTPOutcome) {
    let exchange = ProvenExchange(transport: transport, nonces: nonces, time: clock, random: SystemRandom())
    return try await exchange.perform(key, at: clock.now(), route: route) { proof in
      HTTPRequest(.post, "https://as.example:443/token?tenant=1", body: Secret("assertion=" + proof.id))
    }
  }

  private func status(_ outcome: HTTPOutcome) -> Int? {
    if case .answered(let answer) = outcome { answer.status } else { nil }
  }

  @Test("without a key nothing is proved, and an error that names a nonce is an answer like any other")
  func noKey() async throws {
    let transport = ScriptedTransport([Self.wants("n")], clock: clock)
    let (request, outcome) = try await perform(transport, nil)
    #expect(request.headers.value("DPoP") == nil && status(outcome) == 400 && transport.sent.count == 1)
  }

  @Test("a proof is for this method and URL, dated, and of its own number")
  func proved() async throws {
    let transport = ScriptedTransport([Self.granted, Self.granted], clock: clock)
    let key = try key()
    for _ in 0..<2 { _ = try await perform(transport, key) }
    let claims = transport.sent.map(\.claims)
    #expect(claims.allSatisfy { $0["htm"] == "POST" && $0["htu"] == "https://as.example/token" && $0["ath"] == nil })
    #expect(claims.allSatisfy { $0["iat"] == String(Int64(clock.now().wallSeconds)) })
    #expect(claims[0]["jti"] != claims[1]["jti"])
    // The nonce of the first answer is in the second proof.
    #expect(claims[0]["nonce"] == nil && claims[1]["nonce"] == "next")
  }

  @Test("a proof is dated by the server's clock")
  func skewed() async throws {
    let transport = ScriptedTransport([Self.granted], clock: clock)
    let exchange = ProvenExchange(transport: transport, nonces: nonces, time: clock, random: SystemRandom())
    var now = clock.now()
    now.behindSeconds = 7_200
    _ = try await exchange.perform(try key(), at: now, route: HTTPRoute()) { _ in
      HTTPRequest(.post, "https://as.example/token")
    }
    #expect(transport.sent[0].claims["iat"] == String(Int64(now.wallSeconds + 7_200)))
  }

  @Test("a nonce that is wanted costs one more sending, made anew", arguments: [400, 401])
  func nonce(refusal: Int) async throws {
    let transport = ScriptedTransport([Self.wants("n-1", status: refusal), Self.granted], clock: clock, seconds: 2)
    let (request, outcome) = try await perform(transport, try key())
    #expect(status(outcome) == 200 && transport.sent.count == 2)
    let claims = transport.sent.map(\.claims)
    #expect(claims[0]["nonce"] == nil && claims[1]["nonce"] == "n-1" && claims[0]["jti"] != claims[1]["jti"])
    // What proves the client is used once.
    #expect(transport.sent[0].request.body != transport.sent[1].request.body)
    #expect(request.body == transport.sent[1].request.body)
    #expect(transport.sent[1].route.timeoutMilliseconds == 58_000)
  }

  @Test("a server that always wants another nonce gets two sendings, and its refusal is the answer")
  func endless() async throws {
    let transport = ScriptedTransport((0..<9).map { Self.wants("n-\($0)") }, clock: clock)
    let key = try key()
    #expect(status(try await perform(transport, key).outcome) == 400)
    #expect(transport.sent.count == 2)
    #expect(status(try await perform(transport, key).outcome) == 400)
    #expect(transport.sent.count == 4)
    #expect(transport.sent.map { $0.claims["nonce"] } == [nil, "n-0", "n-1", "n-2"])
  }

  @Test("a server that wants the nonce it got is asked no second time")
  func same() async throws {
    let transport = ScriptedTransport((0..<3).map { _ in Self.wants("n") }, clock: clock)
    let key = try key()
    _ = try await perform(transport, key)
    _ = try await perform(transport, key)
    #expect(transport.sent.count == 3)
  }

  @Test("a second sending has half of the time at least, or is left to the next request, which knows the nonce")
  func late() async throws {
    let slow = ScriptedTransport([Self.wants("n"), Self.granted], clock: clock, seconds: 31)
    let key = try key()
    #expect(status(try await perform(slow, key).outcome) == 400)
    #expect(slow.sent.count == 1)
    #expect(status(try await perform(slow, key).outcome) == 200)
    #expect(slow.sent[1].claims["nonce"] == "n")
  }

  @Test("an answer that is lost after the nonce is lost: the second sending may have used something up")
  func lost() async throws {
    let transport = ScriptedTransport(
      [Self.wants("n"), .sentNoAnswer(HTTPFailure(.timeout, "slow"))], clock: clock)
    guard case .sentNoAnswer = try await perform(transport, try key()).outcome else {
      Issue.record("not told")
      return
    }
  }

  @Test("what is no key signs nothing, and nothing is sent")
  func broken() async throws {
    let transport = ScriptedTransport([Self.granted], clock: clock)
    await #expect(throws: ProtocolError.self) { try await perform(transport, Secret("no key")) }
    #expect(transport.sent.isEmpty)
  }

  @Test(
    "the key is of the first algorithm of ours that the server lists",
    arguments: [
      (nil, .es256), ([], .es256), (["RS256", "ES256"], .es256), (["RS256", "EdDSA"], .edDSA), (["RS256"], .rs256),
      (["ES512", "HS256"], nil),
    ] as [([String]?, SignatureAlgorithm?)])
  func algorithms(listed: [String]?, chosen: SignatureAlgorithm?) {
    #expect(SignatureAlgorithm.forProofs(supported: listed) == chosen)
  }
}
