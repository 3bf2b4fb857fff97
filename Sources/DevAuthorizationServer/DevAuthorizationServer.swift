import HTTPTerms
package import OAuthProtocol

/// A scriptable authorization and resource server (RFC 6749, 6750, 7009, 7636, 7662, 8252, 8414, 8628, 9207) as a
/// value: no clock, no socket. Tests mount it as HTTP transport, `oauth-dev-server` puts it on loopback.
///
/// Times are Unix seconds, given with every request; they may stand still and must not go back.
package struct DevAuthorizationServer: Sendable {
  package var options: DevServerOptions
  /// The last ``logLimit`` requests, oldest first; control requests are left out.
  package private(set) var log: [DevLogEntry] = []
  /// Requests ever logged.
  package private(set) var requestCount = 0

  package static let logLimit = 2_000
  /// Longest form: 64 KiB.
  package static let formLimit = 64 << 10
  /// Longest body of a request to `/api/…`, and of any request that the engine reads: 16 MiB.
  package static let bodyLimit = 16 << 20

  var store = TokenStore()
  var random: DevRandom
  private var scripts: [DevEndpoint: [DevScript]] = [:]

  package init(_ options: DevServerOptions = DevServerOptions(), random: DevRandom = .system) {
    self.options = options
    self.random = random
  }

  /// The answer to one request at `now` (Unix seconds).
  package mutating func respond(to request: DevRequest, at now: Double) -> DevResponse {
    guard let route = Route(path: request.path, issuerPath: String(options.issuerPath)) else {
      return finish(.text(404, "no such page"), request, .other, at: now)
    }
    if case .control(let control) = route { return respond(control, to: request, at: now) }
    let endpoint = route.endpoint
    let response = scripted(endpoint, request) { server in server.act(route, on: request, at: now) }
    return finish(response, request, endpoint, at: now)
  }

  /// The same for a client of the HTTP seam. A request for another origin than the issuer's finds nobody.
  package mutating func respond(to request: HTTPRequest, at now: Double) -> DevResponse {
    guard let (origin, request) = DevRequest.split(request), origin == (try? Origin(of: options.issuer)) else {
      return DevResponse(status: 0, delivery: .refused)
    }
    return respond(to: request, at: now)
  }

  /// Adds to what the next requests to `endpoint` get.
  package mutating func script(_ endpoint: DevEndpoint, _ scripts: DevScript...) {
    self.scripts[endpoint, default: []] += scripts
  }

  /// Adds `action` for the next `times` requests to `endpoint`.
  package mutating func script(
    _ endpoint: DevEndpoint, _ action: DevScript.Action, grantType: String? = nil, times: Int = 1
  ) {
    scripts[endpoint, default: []] += Array(repeating: DevScript(action, grantType: grantType), count: times)
  }

  /// Scripted answers not taken yet.
  package func scriptsLeft(_ endpoint: DevEndpoint) -> Int { scripts[endpoint]?.count ?? 0 }

  package mutating func clearScripts() { scripts = [:] }

  package mutating func clearLog() { log = [] }

  /// Every access token given so far is dead; refresh tokens live.
  package mutating func revokeAccessTokens() { store.revokeAccessTokens() }

  /// Every grant given so far is dead: only a new login helps.
  package mutating func revokeGrants() { store.revokeAllFamilies() }

  /// Logged requests to `endpoint`, those with this `grant_type` only when it is given.
  package func requests(to endpoint: DevEndpoint, grantType: String? = nil) -> Int {
    log.count { $0.endpoint == endpoint && (grantType == nil || $0.grantType == grantType) }
  }

  // MARK: The way of one request

  /// Runs `act` unless the script says otherwise.
  mutating func scripted(
    _ endpoint: DevEndpoint, _ request: DevRequest, act: (inout DevAuthorizationServer) -> DevResponse
  ) -> DevResponse {
    guard let action = takeScript(endpoint, request) else { return act(&self) }
    switch action {
    case .answer(let status, let headers, let body):
      return DevResponse(status: status, headers: headers, body: Array(body.utf8))
    case .actThenAnswer(let status, let headers, let body):
      _ = act(&self)
      return DevResponse(status: status, headers: headers, body: Array(body.utf8))
    case .drop: return DevResponse(status: 0, delivery: .dropped)
    case .refuse: return DevResponse(status: 0, delivery: .refused)
    case .pass: return act(&self)
    case .actThenDrop:
      var response = act(&self)
      response.delivery = .dropped
      return response
    case .actThenCut(let bytes):
      var response = act(&self)
      response.delivery = .cut(afterBytes: max(0, min(bytes, response.body.count - 1)))
      return response
    }
  }

  private mutating func takeScript(_ endpoint: DevEndpoint, _ request: DevRequest) -> DevScript.Action? {
    guard let waiting = scripts[endpoint], !waiting.isEmpty else { return nil }
    let grantType = DevLogEntry.grantType(of: request, endpoint)
    guard let index = waiting.firstIndex(where: { $0.grantType == nil || $0.grantType == grantType }) else {
      return nil
    }
    return scripts[endpoint]?.remove(at: index).action
  }

  /// What every answer has in common: delay, date, a line in the log.
  mutating func finish(
    _ response: DevResponse, _ request: DevRequest, _ endpoint: DevEndpoint, at now: Double
  ) -> DevResponse {
    var response = response
    response.delayMilliseconds += min(max(options.delayMilliseconds[endpoint] ?? 0, 0), 600_000)
    if response.headers.value("Date") == nil, let date = HTTPDate.text(now + options.clockSkewSeconds) {
      response.headers.append(HTTPField("Date", date))
    }
    requestCount += 1
    if log.count >= DevAuthorizationServer.logLimit { log.removeFirst(log.count - DevAuthorizationServer.logLimit + 1) }
    log.append(
      DevLogEntry(number: requestCount, timeSeconds: now, request: request, endpoint: endpoint, response: response))
    return response
  }

  private mutating func act(_ route: Route, on request: DevRequest, at now: Double) -> DevResponse {
    let limit = route.endpoint == .resource ? DevAuthorizationServer.bodyLimit : DevAuthorizationServer.formLimit
    guard request.body.count <= limit else { return .text(413, "too large") }
    switch route {
    case .openIDMetadata: return openIDMetadata(request)
    case .oauthMetadata: return oauthMetadata(request)
    case .keys: return .json(.object([("keys", .array([]))]), headers: [])
    case .authorize: return authorize(request, at: now)
    case .login: return logIn(request, at: now)
    case .consent: return consent(request, at: now)
    case .token: return answering { server throws(Refusal) in try server.token(request, at: now) }
    case .deviceAuthorization:
      return answering { server throws(Refusal) in try server.authorizeDevice(request, at: now) }
    case .devicePage: return devicePage(request, at: now)
    case .deviceConsent: return deviceConsent(request, at: now)
    case .revoke: return answering { server throws(Refusal) in try server.revoke(request, at: now) }
    case .introspect: return answering { server throws(Refusal) in try server.introspect(request, at: now) }
    case .userinfo: return userinfo(request, at: now)
    case .resource(let name): return resource(name, request, at: now)
    case .control: return .text(404, "no such page")
    }
  }

  private mutating func answering(
    _ body: (inout DevAuthorizationServer) throws(Refusal) -> DevResponse
  ) -> DevResponse {
    do throws(Refusal) { return try body(&self) } catch { return error.response }
  }
}
