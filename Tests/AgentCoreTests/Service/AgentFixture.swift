import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import HTTPTerms
import Logging
import OAuthProtocol
import Sealing
import Synchronization
import Testing
import TokenVault

/// The whole core over the development server, a store in memory and a clock that a test moves.
struct AgentFixture {
  let clock: ManualClock
  let transport: DevTransport
  let store: MemoryStore
  let configuration: StaticConfiguration
  let redirects = ManualRedirects()
  let ready = ReadyTokens()
  let vault = ManualVault()
  let service: CredentialService
  let logins: LoginCoordinator
  let router: AgentRouter
  let caller = Caller(uid: 1_000, connection: 1)

  init(
    _ definitions: [AccountDefinition] = [.browser], store: MemoryStore = MemoryStore(),
    clock: ManualClock = ManualClock(),
    transport: DevTransport? = nil, configuration: StaticConfiguration? = nil, handler: (any LogHandler)? = nil
  ) {
    self.clock = clock
    self.store = store
    self.configuration = configuration ?? StaticConfiguration(definitions)
    self.transport = transport ?? AgentFixture.server(clock)
    var logger = Logger(label: "test") { _ in handler ?? SwiftLogNoOpLogHandler() }
    logger.logLevel = .trace
    service = CredentialService(
      store: store, transport: self.transport, configuration: self.configuration, time: clock, random: SystemRandom(),
      ready: ready, logger: logger)
    logins = LoginCoordinator(
      service: service, redirects: redirects, time: clock, random: SystemRandom(), logger: logger)
    router = AgentRouter(
      service: service, logins: logins, vault: vault, ready: ready, time: clock, admission: Admission(uid: 1_000),
      identity: AgentIdentity(
        pid: 7, started: "by_hand", startedAt: clock.now(), degraded: [AgentCondition(.other, "a condition")]),
      logger: logger)
  }

  /// With one account that somebody has logged in to.
  static func loggedIn(_ definition: AccountDefinition = .browser) async throws -> AgentFixture {
    let fixture = AgentFixture([definition])
    try await fixture.logIn()
    return fixture
  }

  static func server(_ clock: ManualClock) -> DevTransport {
    var options = DevServerOptions()
    options.accessTokenLifeSeconds = 3_600
    options.autoConsent = true
    return DevTransport(options, time: clock)
  }

  /// A new agent on the same disk, server and clock.
  func restarted(store: MemoryStore? = nil) -> AgentFixture {
    AgentFixture(store: store ?? self.store, clock: clock, transport: transport, configuration: configuration)
  }

  // MARK: Requests, as a caller sends them

  func call<P: RequestParameters>(_ parameters: P) async throws(AgentFailure) -> P.Answer {
    let line = Array(RequestEncoder.line(id: .number(1), parameters).dropLast())
    do {
      let answer = await router.answer(to: try RequestLine(line), from: caller)
      return try AnswerLine.parse(Array(answer.dropLast()), as: P.Answer.self).result.get()
    } catch let failure as AgentFailure { throw failure } catch {
      throw AgentFailure(.internal, "no answer of this protocol: \(error)")
    }
  }

  func failure<P: RequestParameters>(_ parameters: P) async -> AgentFailure? {
    do {
      _ = try await call(parameters)
      return nil
    } catch { return error }
  }

  // MARK: Logging in

  func start(
    _ account: String = "work", request: String = "one", device: Bool? = nil, secretsID: String? = nil
  ) async throws -> LoginStarted {
    var start = LoginStart(requestID: request, account: account, device: device)
    start.secretsID = secretsID
    return try await call(start)
  }

  /// What the authorization endpoint sends the browser to.
  func location(_ started: LoginStarted) async throws -> String {
    let url = try #require(started.authorizationURL)
    guard case .answered(let answer) = await transport.perform(HTTPRequest(.get, url), route: HTTPRoute()) else {
      throw AgentFailure(.internal, "the authorization endpoint gave no answer")
    }
    return try #require(answer.headers.value("Location"))
  }

  /// A browser follows `location` to the redirect listener.
  func follow(_ location: String, method: String = "GET") async throws -> RedirectPage? {
    let url = try WebURL(location)
    let origin = url.origin.description
    let port = try #require(Int(origin.split(separator: ":").last ?? ""))
    return await redirects.hit(port: port, method: method, target: String(location.dropFirst(origin.count)))
  }

  @discardableResult
  func logIn(_ account: String = "work", request: String = "one") async throws -> LoginProgress {
    let started = try await start(account, request: request)
    if started.kind == .browser { _ = try await follow(try await location(started)) }
    return try await call(LoginWait(loginID: started.loginID))
  }

  // MARK: Looking

  var refreshes: Int { transport.withServer { $0.requests(to: .token, grantType: "refresh_token") } }

  func tokenRequests(_ grantType: String) -> Int {
    transport.withServer { $0.requests(to: .token, grantType: grantType) }
  }

  /// Whether the server still takes the token.
  func isGood(_ token: String) async -> Bool {
    let request = HTTPRequest(
      .get, "http://127.0.0.1:8080/api/hello", headers: [HTTPField("Authorization", "Bearer \(token)")])
    guard case .answered(let answer) = await transport.perform(request, route: HTTPRoute()) else { return false }
    return answer.status == 200
  }
}

extension AccountDefinition {
  static let browser = AccountDefinition(
    name: "work", file: "/etc/accounts.d/work.toml", issuer: "http://127.0.0.1:8080", clientID: "dev",
    scope: ["read", "write"])

  func changed(_ change: (inout AccountDefinition) -> Void) -> AccountDefinition {
    var copy = self
    change(&copy)
    return copy
  }
}

/// Waits, without sleeping, until what other tasks do has made `condition` true; gives up after a minute.
func eventually(
  _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now.advanced(by: .seconds(300))
  while try await !condition() {
    guard ContinuousClock.now < end else {
      Issue.record("never happened: \(what)", sourceLocation: sourceLocation)
      return
    }
    await Task.yield()
  }
}

extension ManualClock {
  /// Waits until somebody sleeps until `bootSeconds`, give or take a second, and moves the clock there.
  func sleepers(until seconds: Double, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let at = now().bootSeconds + seconds
    try await eventually("somebody sleeps until \(at), not only \(wakes)", sourceLocation: sourceLocation) {
      wakes.contains { abs($0 - at) < 1 }
    }
  }
}

extension LineResponder {
  /// The line that is sent without leaving the event loop, or nil.
  func readyAnswer(to request: TokenLine.Request, from caller: Caller) -> [UInt8]? {
    var line: [UInt8] = []
    let isReady = sendReadyAnswer(to: request, from: caller, at: now()) { capacity, write in
      line = [UInt8](unsafeUninitializedCapacity: capacity) { $1 = write(UnsafeMutableRawBufferPointer($0)) }
    }
    return isReady ? line : nil
  }
}
