import DevAuthorizationServer
import FoundationEssentials
import OAuthProtocol
import Sealing

/// The server on a fixture: a time that only the test moves, and the flows that every test needs.
struct ServerFixture {
  static let issuer = "http://127.0.0.1:8080"
  static let redirect = "http://127.0.0.1:5050/callback"
  static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

  var server: DevAuthorizationServer
  var now: Double = 1_700_000_000

  init(issuer: String = ServerFixture.issuer, _ set: (inout DevServerOptions) -> Void = { _ in }) {
    var options = DevServerOptions(issuer: issuer)
    options.autoConsent = true
    set(&options)
    server = DevAuthorizationServer(options, random: .seeded(7))
  }

  mutating func get(_ target: String, _ headers: [HTTPField] = []) -> DevResponse {
    server.respond(to: DevRequest("GET", target, headers: headers), at: now)
  }

  mutating func post(
    _ target: String, _ form: KeyValuePairs<String, String>, _ headers: [HTTPField] = []
  ) -> DevResponse {
    server.respond(to: .form(target, form, headers: headers), at: now)
  }

  /// The authorization request of the public client, with some parameters changed (nil: left out).
  static func authorizeTarget(_ changes: [String: String?] = [:]) -> String {
    var parameters: [String: String] = [
      "response_type": "code", "client_id": "dev", "redirect_uri": redirect, "scope": "read write", "state": "s-1",
      "code_challenge": challenge, "code_challenge_method": "S256",
    ]
    for (name, value) in changes { parameters[name] = value }
    let pairs = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\(escape($0.value))" }
    return "/authorize?" + pairs.joined(separator: "&")
  }

  static func escape(_ text: String) -> String {
    text.utf8.map { byte in
      Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber
        ? String(Unicode.Scalar(byte)) : "%" + Hex.encode([byte]).uppercased()
    }.joined()
  }

  mutating func code(_ changes: [String: String?] = [:]) -> String {
    Redirect(get(ServerFixture.authorizeTarget(changes))).parameters["code"] ?? ""
  }

  mutating func exchange(_ code: String, _ changes: [String: String?] = [:]) -> DevResponse {
    var form: [String: String] = [
      "grant_type": "authorization_code", "code": code, "redirect_uri": ServerFixture.redirect, "client_id": "dev",
      "code_verifier": ServerFixture.verifier,
    ]
    for (name, value) in changes { form[name] = value }
    let body = form.map { "\($0.key)=\(ServerFixture.escape($0.value))" }.joined(separator: "&")
    return server.respond(
      to: DevRequest(
        "POST", "/token", headers: [HTTPField("Content-Type", "application/x-www-form-urlencoded")],
        body: Array(body.utf8)), at: now)
  }

  mutating func logIn() -> Tokens { Tokens(exchange(code())) }

  mutating func refresh(_ token: String, clientID: String = "dev") -> DevResponse {
    post("/token", ["grant_type": "refresh_token", "refresh_token": token, "client_id": clientID])
  }

  /// Status of `/api/hello` with this token.
  mutating func hello(_ token: String) -> Int {
    get("/api/hello", [HTTPField("Authorization", "Bearer \(token)")]).status
  }

  static func basic(_ name: String, _ secret: String) -> HTTPField {
    HTTPField("Authorization", "Basic " + Data("\(name):\(secret)".utf8).base64EncodedString())
  }
}

/// A token answer, or what came instead.
struct Tokens: Decodable, Equatable {
  var accessToken: String?
  var refreshToken: String?
  var tokenType: String?
  var expiresIn: Int?
  var scope: String?
  var error: String?

  init(_ response: DevResponse) {
    let parsed = try? JSONDecoder.snakeCase.decode(Tokens.self, from: Data(response.body))
    self = parsed ?? Tokens(error: "not JSON, status \(response.status)")
  }

  private init(error: String) { self.error = error }

  var access: String { accessToken ?? "" }
  var refresh: String { refreshToken ?? "" }
}

/// Where a redirect leads.
struct Redirect {
  var base = ""
  var parameters: [String: String] = [:]

  init(_ response: DevResponse) {
    guard let location = response.headers.value("Location"), let mark = location.firstIndex(of: "?") else { return }
    base = String(location[..<mark])
    for pair in location[location.index(after: mark)...].split(separator: "&") {
      let halves = pair.split(separator: "=", maxSplits: 1).map(String.init)
      parameters[halves[0]] = halves.count > 1 ? Redirect.decode(halves[1]) : ""
    }
  }

  private static func decode(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%"), let high = rest.next(), let low = rest.next() else {
        bytes.append(byte)
        continue
      }
      bytes += Hex.decode(String(decoding: [high, low], as: UTF8.self)) ?? []
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension DevResponse {
  /// The value of a hidden input on a page.
  func hidden(_ name: String) -> String {
    guard let start = text.firstRange(of: "name=\"\(name)\" value=\"") else { return "" }
    return String(text[start.upperBound...].prefix { $0 != "\"" })
  }
}

extension JSONDecoder {
  /// Members as the RFCs spell them.
  static var snakeCase: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }
}
