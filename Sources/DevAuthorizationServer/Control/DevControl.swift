import OAuthProtocol

/// The body of `POST /_dev/script`: each member does one thing, absent ones nothing.
struct DevControl: Decodable {
  /// One kind of scripted answer, for the next `times` requests.
  struct Answer: Decodable {
    enum Action: String, Decodable {
      case answer
      case actThenAnswer = "act_then_answer"
      case drop
      case actThenDrop = "act_then_drop"
      case actThenCut = "act_then_cut"
      case pass
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
      case endpoint, action, status, headers, body, times
      case grantType = "grant_type"
      case afterBytes = "after_bytes"
    }

    var endpoint: DevEndpoint
    var script: DevScript
    var times: Int

    init(from decoder: any Decoder) throws {
      let members = try decoder.members(CodingKeys.self)
      endpoint = try members.decode(DevEndpoint.self, forKey: .endpoint)
      let status = try members.decodeIfPresent(Int.self, forKey: .status) ?? 200
      let headers = (try members.decodeIfPresent([String: String].self, forKey: .headers) ?? [:])
        .map { HTTPField($0.key, $0.value) }
      let body = try members.decodeIfPresent(String.self, forKey: .body) ?? ""
      guard (200...599).contains(status) else { throw members.problem(.status, "200 to 599") }
      guard headers.allSatisfy(\.isSendable) else { throw members.problem(.headers, "names and values of RFC 9110 §5") }
      let action: DevScript.Action =
        switch try members.decode(Action.self, forKey: .action) {
        case .answer: .answer(status: status, headers: headers, body: body)
        case .actThenAnswer: .actThenAnswer(status: status, headers: headers, body: body)
        case .drop: .drop
        case .actThenDrop: .actThenDrop
        case .actThenCut: .actThenCut(afterBytes: try members.decode(Int.self, forKey: .afterBytes))
        case .pass: .pass
        }
      script = DevScript(action, grantType: try members.decodeIfPresent(String.self, forKey: .grantType))
      times = try members.decodeIfPresent(Int.self, forKey: .times) ?? 1
      guard (1...1_000).contains(times) else { throw members.problem(.times, "1 to 1000") }
    }
  }

  enum CodingKeys: String, CodingKey, CaseIterable {
    case revokeAccessTokens = "revoke_access_tokens"
    case revokeGrants = "revoke_grants"
    case accessTokenLifeSeconds = "access_token_life_s"
    case refreshTokenLifeSeconds = "refresh_token_life_s"
    case codeLifeSeconds = "code_life_s"
    case deviceCodeLifeSeconds = "device_code_life_s"
    case deviceIntervalSeconds = "device_interval_s"
    case rotation
    case refreshRevokesAccessTokens = "refresh_revokes_access_tokens"
    case omitExpiresIn = "omit_expires_in"
    case autoConsent = "auto_consent"
    case sendsIssuer = "send_iss"
    case tokenLength = "token_length"
    case delayMilliseconds = "delay_ms"
    case answers
    case idTokenLifeSeconds = "id_token_life_s"
    case sessionAgeSeconds = "session_age_s"
    case refreshGivesIDToken = "refresh_gives_id_token"
    case idTokenClaims = "id_token_claims"
    case users
    case clearAnswers = "clear_answers"
    case clearLog = "clear_log"
    case approveDevice = "approve_device"
    case denyDevice = "deny_device"
  }

  var changes: [(inout DevAuthorizationServer, Double) -> Bool] = []

  init(from decoder: any Decoder) throws {
    let members = try decoder.members(CodingKeys.self)
    func flag(_ key: CodingKeys, _ change: @escaping (inout DevAuthorizationServer, Bool) -> Void) throws {
      guard let value = try members.decodeIfPresent(Bool.self, forKey: key) else { return }
      changes.append { server, _ in
        change(&server, value)
        return true
      }
    }
    func seconds(_ key: CodingKeys, _ path: WritableKeyPath<DevServerOptions, Double>) throws {
      guard let value = try members.decodeIfPresent(Double.self, forKey: key) else { return }
      guard value >= 0, value <= DevServerOptions.longestLifeSeconds else {
        throw members.problem(key, "0 to 10 years")
      }
      changes.append { server, _ in
        server.options[keyPath: path] = value
        return true
      }
    }
    try flag(.clearAnswers) { if $1 { $0.clearScripts() } }
    try flag(.clearLog) { if $1 { $0.clearLog() } }
    try flag(.revokeAccessTokens) { if $1 { $0.revokeAccessTokens() } }
    try flag(.revokeGrants) { if $1 { $0.revokeGrants() } }
    try flag(.refreshRevokesAccessTokens) { $0.options.refreshRevokesAccessTokens = $1 }
    try flag(.omitExpiresIn) { $0.options.omitExpiresIn = $1 }
    try flag(.autoConsent) { $0.options.autoConsent = $1 }
    try flag(.sendsIssuer) { $0.options.sendsIssuer = $1 }
    try flag(.refreshGivesIDToken) { $0.options.refreshGivesIDToken = $1 }
    try seconds(.idTokenLifeSeconds, \.idTokenLifeSeconds)
    try seconds(.sessionAgeSeconds, \.sessionAgeSeconds)
    try seconds(.accessTokenLifeSeconds, \.accessTokenLifeSeconds)
    try seconds(.refreshTokenLifeSeconds, \.refreshTokenLifeSeconds)
    try seconds(.codeLifeSeconds, \.codeLifeSeconds)
    try seconds(.deviceCodeLifeSeconds, \.deviceCodeLifeSeconds)
    try seconds(.deviceIntervalSeconds, \.deviceIntervalSeconds)
    try readRest(members)
  }

  private mutating func readRest(_ members: KeyedDecodingContainer<CodingKeys>) throws {
    if let text = try members.decodeIfPresent(String.self, forKey: .rotation) {
      guard let rotation = DevRotation(text) else { throw members.problem(.rotation, "strict, grace=SECONDS or none") }
      changes.append { server, _ in
        server.options.rotation = rotation
        return true
      }
    }
    if let length = try members.decodeIfPresent(Int.self, forKey: .tokenLength) {
      guard (8...65_536).contains(length) else { throw members.problem(.tokenLength, "8 to 65536") }
      changes.append { server, _ in
        server.options.tokenLength = length
        return true
      }
    }
    if let claims = try members.decodeIfPresent([String: String?].self, forKey: .idTokenClaims) {
      changes.append { server, _ in
        server.options.idTokenClaims = claims
        return true
      }
    }
    if let users = try members.decodeIfPresent([String].self, forKey: .users) {
      guard !users.isEmpty else { throw members.problem(.users, "a list of names") }
      changes.append { server, _ in
        server.options.users = users
        return true
      }
    }
    for (name, delay) in try members.decodeIfPresent([String: Int].self, forKey: .delayMilliseconds) ?? [:] {
      guard let endpoint = DevEndpoint(rawValue: name) else {
        throw members.problem(.delayMilliseconds, "an object of endpoint names")
      }
      guard (0...600_000).contains(delay) else { throw members.problem(.delayMilliseconds, "0 to 600000") }
      changes.append { server, _ in
        server.options.delayMilliseconds[endpoint] = delay
        return true
      }
    }
    for answer in try members.decodeIfPresent([Answer].self, forKey: .answers) ?? [] {
      changes.append { server, _ in
        server.script(answer.endpoint, answer.script.action, grantType: answer.script.grantType, times: answer.times)
        return true
      }
    }
    for (key, allow) in [(CodingKeys.approveDevice, true), (.denyDevice, false)] {
      guard let code = try members.decodeIfPresent(String.self, forKey: key) else { continue }
      changes.append { server, now in server.decideDevice(userCode: code, allow: allow, at: now) }
    }
  }
}

extension DevEndpoint: Decodable {}

extension DevServerOptions {
  /// Ten years: beyond it sums of seconds say nothing any more.
  package static let longestLifeSeconds: Double = 315_360_000
}

extension HTTPField {
  /// A name of token characters, a value without control characters (RFC 9110 §5.5, §5.6.2).
  var isSendable: Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
      && value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7F || $0 == "\t" }
  }
}

private struct AnyKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// What is wrong with a control request, in words.
struct DevControlProblem: Error {
  var message: String
}

extension Decoder {
  /// The members of an object; a name that is not one of `keys` is refused.
  fileprivate func members<Key: CodingKey & CaseIterable>(_ keys: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let known = Set(keys.allCases.map(\.stringValue))
    for key in try container(keyedBy: AnyKey.self).allKeys where !known.contains(key.stringValue) {
      throw DevControlProblem(
        message: "unknown member \(key.stringValue); known: \(known.sorted().joined(separator: ", "))")
    }
    return try container(keyedBy: keys)
  }
}

extension KeyedDecodingContainer {
  fileprivate func problem(_ key: Key, _ expected: String) -> DevControlProblem {
    DevControlProblem(message: "\(key.stringValue) must be \(expected)")
  }
}
