import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import Logging
import Sealing
import Synchronization
import Testing
import TokenVault

@Suite("The router: lines in, lines out")
struct RouterTests {
  private func raw(_ fixture: AgentFixture, _ line: String, uid: UInt32 = 1_000) async throws -> String {
    let caller = Caller(uid: uid, connection: 1)
    let answer = await fixture.router.answer(to: try RequestLine(Array(line.utf8)), from: caller)
    return String(decoding: answer, as: UTF8.self)
  }

  private func ready(_ fixture: AgentFixture, _ request: TokenLine.Request, uid: UInt32 = 1_000) -> [UInt8]? {
    fixture.router.readyAnswer(
      to: request, from: Caller(uid: uid, connection: 1))
  }

  @Test("the ready path answers byte for byte what the slow path answers, over time and clocks that are set")
  func readyEqualsSlow() async throws {
    let fixture = AgentFixture()
    let request = TokenLine.Request(id: .number(42), account: "work")
    #expect(ready(fixture, request) == nil)
    try await fixture.logIn()
    var compared = 0
    for seconds in [0.0, 0.3, 1.7, 60.1, 1_000, 2_000, 477.9] {
      fixture.clock.advance(by: seconds)
      if seconds == 1.7 {
        let right = fixture.clock.now().wallSeconds
        fixture.clock.setWall(1_800_000_000.4)
        fixture.transport.withServer { $0.options.clockSkewSeconds = right - 1_800_000_000.4 }
      }
      let line = Array(TokenLine.printRequest(request).dropLast())
      let slow = await fixture.router.answer(to: try RequestLine(line), from: fixture.caller)
      let quick = try #require(ready(fixture, request))
      #expect(String(decoding: quick, as: UTF8.self) == String(decoding: slow, as: UTF8.self))
      compared += 1
    }
    #expect(compared == 7)
    #expect(ready(fixture, request, uid: 1_001) == nil)
    #expect(ready(fixture, TokenLine.Request(id: .number(1), account: "work", minValiditySeconds: 86_400)) == nil)
    #expect(ready(fixture, TokenLine.Request(id: .number(1), account: "nobody")) == nil)
    fixture.clock.advance(by: 3_600)
    #expect(ready(fixture, request) == nil, "an expired token is never ready")
  }

  @Test("every method answers", arguments: Method.allCases)
  func everyMethod(method: Method) async throws {
    let fixture = AgentFixture()
    let parameters: [Method: String] = [
      .tokenGet: #"{"account":"work"}"#, .tokenReject: #"{"account":"work","rejected":{"token":"x"}}"#,
      .tokenID: #"{"account":"work"}"#,
      .dpopProof: #"{"account":"work","url":"http://127.0.0.1:8080/","method":"GET"}"#,
      .loginStart: #"{"request_id":"a","account":"work"}"#, .loginWait: #"{"login_id":"none"}"#,
      .loginComplete: #"{"login_id":"none","redirect_url":"http://127.0.0.1/"}"#,
      .loginConfirm: #"{"login_id":"none"}"#, .loginCancel: #"{"login_id":"none"}"#,
      .accountCheck: #"{"account":"work"}"#,
      .serverFind: #"{"account":"work","definition":"x"}"#, .clientRegister: #"{"account":"work","definition":"x"}"#,
      .providerShow: #"{"provider":"github"}"#,
      .accountShow: #"{"account":"work"}"#, .accountForget: #"{"account":"work"}"#,
      .accountAccept: #"{"account":"work"}"#, .accountImport: #"{"account":"work"}"#,
      .secretSet: #"{"account":"work","kind":"client_secret","value":"x"}"#,
      .secretForget: #"{"account":"work","kind":"client_secret"}"#, .keySet: #"{"account":"work"}"#,
      .logout: #"{"account":"work"}"#,
      .vaultUnlock: #"{"recovery_code":"x"}"#, .vaultSetSlot: #"{"kind":"key_file"}"#,
      .vaultRemoveSlot: #"{"kind":"passphrase"}"#, .vaultConfirmCode: #"{"recovery_code":"x"}"#,
    ]
    let failing: [Method: String] = [
      .tokenGet: "login_required", .tokenID: "login_required", .dpopProof: "login_required",
      .loginWait: "bad_request", .loginComplete: "bad_request",
      .loginConfirm: "bad_request", .loginCancel: "bad_request", .accountAccept: "login_required",
      .clientRegister: "config_invalid", .accountImport: "bad_request", .keySet: "config_invalid",
      .providerShow: "config_invalid",
    ]
    let text = try await raw(
      fixture, #"{"jsonrpc":"2.0","id":7,"method":"\#(method.rawValue)","params":\#(parameters[method] ?? "{}")}"#)
    #expect(text.hasPrefix(#"{"jsonrpc":"2.0","id":7,"#))
    #expect(text.hasSuffix("}\n"))
    #expect(text.contains(#""result":"#) == (failing[method] == nil), "\(text)")
    if let failure = failing[method] { #expect(text.contains(#""failure":"\#(failure)""#), "\(text)") }
  }

  @Test("a parameter that the method does not have is refused by name", arguments: Method.allCases)
  func unknownParameter(method: Method) async throws {
    let text = try await raw(
      AgentFixture(), #"{"jsonrpc":"2.0","id":7,"method":"\#(method.rawValue)","params":{"surprise":1}}"#)
    #expect(text.contains(#""failure":"unsupported_parameter""#), "\(text)")
    #expect(text.contains("surprise"))
  }

  @Test("another user is refused, on every method", arguments: Method.allCases)
  func admission(method: Method) async throws {
    let text = try await raw(
      AgentFixture(), #"{"jsonrpc":"2.0","id":7,"method":"\#(method.rawValue)","params":{}}"#, uid: 0)
    #expect(text.contains(#""failure":"not_permitted""#))
  }

  @Test("a failure on the wire: code, message, and what a program needs to decide")
  func failureForm() async throws {
    let fixture = AgentFixture()
    let text = try await raw(fixture, #"{"jsonrpc":"2.0","id":"x","method":"token.get","params":{"account":"work"}}"#)
    #expect(
      text == #"{"jsonrpc":"2.0","id":"x","error":{"code":5,"data":{"failure":"login_required","hint":"oauthctl login "#
        + #"work","hint_kind":"command","interaction_required":true,"retryable":false},"#
        + #""message":"work: login needed: not logged in"}}"# + "\n")
  }

  @Test("what a caller sends comes back escaped")
  func escaped() async throws {
    let text = try await raw(
      AgentFixture(), #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"\u001b[31m\u202e"}}"#)
    #expect(text.contains("account_unknown"))
    #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}") && !text.contains(#"\u001b"#), "\(text)")
  }

  @Test("hello and status tell what the agent is, also when the vault does not open")
  func status() async throws {
    let fixture = AgentFixture()
    let hello = try await fixture.call(AgentHello())
    #expect(hello.protocol == 1)
    #expect(hello.agentVersion == ProjectVersion.current)
    let status = try await fixture.call(AgentStatus())
    #expect(status.pid == 7)
    #expect(status.degraded == ["a condition"])
    #expect(status.counts == ["accounts": 1])
    #expect(status.accounts.map(\.state) == [.new] && status.accounts.map(\.host) == ["127.0.0.1:8080"])
    _ = try await fixture.start()
    #expect(try await fixture.call(AgentStatus()).accounts.map(\.state) == [.loginPending])

    let broken = AgentFixture()
    broken.store.failLoads([.damaged(what: "a page")])
    let answer = try await broken.call(AgentStatus())
    #expect(answer.accounts.map(\.state) == [.locked])
    #expect(answer.vault.reason == "the vault is damaged: a page")
  }

  @Test("no secret reaches the log or a failure")
  func noSecrets() async throws {
    let log = RecordingLog()
    let fixture = AgentFixture(handler: log)
    try await fixture.logIn()
    let token = try await fixture.call(TokenGet(account: "work"))
    let refreshToken = fixture.store.history.last?.payload.reveal() ?? ""
    #expect(refreshToken.contains("refresh_token"))
    fixture.transport.withServer { $0.revokeGrants() }
    var failures: [String] = []
    for _ in 0..<3 {
      let failure = await fixture.failure(TokenGet(account: "work", rejected: RejectedToken(token: token.accessToken)))
      failures.append("\(String(describing: failure))")
    }
    _ = try await fixture.call(SecretSet(account: "work", kind: .password, value: "sesame-street", keep: true))
    _ = try await fixture.call(Logout(account: "work"))
    let everything = (log.lines + failures).joined(separator: "\n")
    #expect(log.lines.count > 3)
    let secrets = refreshToken.split { "\"\\{}[],:".contains($0) }.filter { $0.count == 43 }
    #expect(secrets.count >= 2)
    for secret in secrets { #expect(!everything.contains(secret)) }
    #expect(!everything.contains(token.accessToken))
    #expect(!everything.contains("sesame-street"))
  }
}

/// Keeps every line with its metadata.
struct RecordingLog: LogHandler {
  private final class Lines: Sendable {
    let lines = Mutex<[String]>([])
  }

  private let kept = Lines()
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  var lines: [String] { kept.lines.withLock { $0 } }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    kept.lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
  }
}
