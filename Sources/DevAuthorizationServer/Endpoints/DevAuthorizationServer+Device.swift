import OAuthProtocol

/// Device authorization (RFC 8628).
extension DevAuthorizationServer {
  /// §3.1, §3.2
  mutating func authorizeDevice(_ request: DevRequest, at now: Double) throws(Refusal) -> DevResponse {
    let form = try form(request)
    let client = try client(of: request, form)
    guard client.grantTypes.contains(.deviceCode) else {
      throw Refusal("unauthorized_client", "this client may not use the device grant")
    }
    guard store.makeRoom(at: now) else { throw Refusal.overloaded }
    let device = DeviceAuthorization(
      clientID: client.id, userCode: random.userCode(), scope: try scope(form), resource: try resource(form),
      expiresAt: now + options.deviceCodeLifeSeconds, intervalSeconds: options.deviceIntervalSeconds)
    let code = random.token(43)
    store.devices[code] = device
    let page = options.issuer + "/device"
    let members: [(String, JSONText)] = [
      ("device_code", .string(code)), ("user_code", .string(device.userCode)), ("verification_uri", .string(page)),
      ("verification_uri_complete", .string("\(page)?user_code=\(device.userCode)")),
      ("expires_in", .number(Int(options.deviceCodeLifeSeconds))),
      ("interval", .number(Int(options.deviceIntervalSeconds))),
    ]
    return .json(.object(members))
  }

  /// §3.4, §3.5
  mutating func pollDevice(_ form: Parameters, _ client: DevClient, at now: Double) throws(Refusal) -> DevResponse {
    guard let code = form["device_code"] else { throw Refusal("invalid_request", "no device_code") }
    guard var device = store.devices[code], device.clientID == client.id else {
      throw Refusal("invalid_grant", "unknown device code")
    }
    guard now < device.expiresAt else { throw Refusal("expired_token", "the device code has expired") }
    if let last = device.lastPollAt, now - last < device.intervalSeconds {
      device.intervalSeconds += 5
      device.lastPollAt = now
      store.devices[code] = device
      throw Refusal("slow_down", "wait \(Int(device.intervalSeconds)) s between polls")
    }
    store.devices[code]?.lastPollAt = now
    switch device.decision {
    case .pending: throw Refusal("authorization_pending", "the user has not answered yet")
    case .denied: throw Refusal("access_denied", "the user said no")
    case .used: throw Refusal("invalid_grant", "the device code was used before")
    case .allowed(let subject):
      store.devices[code]?.decision = .used
      let grant = store.addGrant(
        Grant(
          clientID: client.id, subject: subject, scope: device.scope, resource: device.resource, authenticatedAt: now))
      return issue(grant, for: client, at: now)
    }
  }

  /// The user's answer, without the pages. False when no such code waits.
  package mutating func decideDevice(userCode: String, allow: Bool, at now: Double) -> Bool {
    guard let code = waitingDevice(userCode, at: now), let user = options.users.first else { return false }
    store.devices[code]?.decision = allow ? .allowed(subject: user) : .denied
    return true
  }

  /// The page that a person opens (§3.3): the code, then who is there, then the decision.
  mutating func devicePage(_ request: DevRequest, at now: Double) -> DevResponse {
    switch request.method {
    case "GET":
      let query = Parameters(pairs: FormText.decode(Array(request.query.utf8)) ?? [])
      let userCode = query["user_code"] ?? ""
      if options.autoConsent, decideDevice(userCode: userCode, allow: true, at: now) { return deviceDone(true) }
      return deviceLogin(userCode: userCode)
    case "POST":
      guard let form = try? form(request) else { return Page.problem(400, "This form cannot be read.") }
      let userCode = form["user_code"] ?? ""
      guard let code = waitingDevice(userCode, at: now), let device = store.devices[code] else {
        return deviceLogin(userCode: userCode, problem: "No device waits with this code.")
      }
      let username = form["username"] ?? ""
      guard isKnown(username, password: form["password"] ?? "") else {
        return deviceLogin(userCode: userCode, username: username, problem: "Unknown user or wrong password.")
      }
      store.devices[code]?.subject = username
      return Page.consent(
        action: options.issuer + "/device/consent", hidden: [("user_code", device.userCode)],
        clientID: device.clientID, subject: username, scope: device.scope)
    default: return .methodNotAllowed("GET, POST")
    }
  }

  /// POST from the device's consent page.
  mutating func deviceConsent(_ request: DevRequest, at now: Double) -> DevResponse {
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    guard let form = try? form(request), let code = waitingDevice(form["user_code"] ?? "", at: now),
      let subject = store.devices[code]?.subject
    else { return Page.problem(400, "No device waits with this code.") }
    let allows = form["decision"] == "allow"
    store.devices[code]?.decision = allows ? .allowed(subject: subject) : .denied
    return deviceDone(allows)
  }

  private func deviceLogin(userCode: String, username: String = "", problem: String? = nil) -> DevResponse {
    let field = """
      <label>Code on the device <input id="user_code" name="user_code" value="\(HTMLText.escaped(userCode))"></label>
      """
    return Page.login(
      action: options.issuer + "/device", hidden: [], fields: field, username: username, problem: problem)
  }

  private func deviceDone(_ allowed: Bool) -> DevResponse {
    Page.response(
      title: allowed ? "Device allowed" : "Device refused",
      body: "<p id=\"done\">You can close this page and go back to the device.</p>")
  }

  /// The device code that belongs to a user code typed in any case, with the dash or without (§6.1).
  private func waitingDevice(_ userCode: String, at now: Double) -> String? {
    let typed = userCode.uppercased().filter { $0.isASCII && $0.isLetter }
    guard !typed.isEmpty else { return nil }
    return store.devices.first { _, device in
      guard case .pending = device.decision, now < device.expiresAt else { return false }
      return device.userCode.filter(\.isLetter) == typed
    }?.key
  }
}
