import HTTPTerms
import Sealing
import Testing

@testable import OAuthProtocol

@Suite("what a server repeats of a request")
struct RequestSecretsTests {
  static let password = #"Pa"ss\wörd/9 of+alice"#
  static let clientSecret = "cs:7Q%hT-4_mZ"

  /// A request with a password in the form and a client secret in the Basic header.
  static func request() throws -> HTTPRequest {
    try TokenRequest(
      endpoint: try WebURL("https://as.example/token"),
      client: OAuthClient(id: "app", authentication: .basic(Secret(clientSecret))),
      grant: .password(username: "alice", password: Secret(password)), scope: ["read_repository"]
    ).httpRequest()
  }

  /// The same in the spellings that a server has at hand: as they came, and as it writes them.
  static func spellings() throws -> [String] {
    let request = try request()
    let body = request.body.reveal()
    let header = request.credentials?.reveal() ?? ""
    return [
      body, header, password, clientSecret, body.lowercased(), "Bad request: \(body)",
      body.replacing("%", with: "%25"), password.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""),
      password.replacing("\"", with: "&quot;").replacing("ö", with: "&#xf6;"),
      password.unicodeScalars.map { "\\u" + String(repeating: "0", count: 2) + Self.hex(UInt8($0.value)) }.joined(),
      password.utf8.map { "%" + Self.hex($0) }.joined(), password.utf8.map(Self.hex).joined(),
      password.map { "\($0) " }.joined(), password.map { "\($0)." }.joined(),
      Base64URL.encode(password.utf8), Base64URL.encode("x\(password)".utf8), Base64URL.encode("xy\(password)z".utf8),
      password.uppercased(), between("\u{200B}"), between("\u{301}"), between("\u{2014}"), between(" \u{2013} "),
      password.unicodeScalars.map { "&#\($0.value)" }.joined(),
      password.unicodeScalars.map { "&#0000000\($0.value);" }.joined(),
      password.unicodeScalars.map { "&#X000\(hex(UInt8($0.value)))" }.joined(),
      password.unicodeScalars.map { "\\u{\(hex(UInt8($0.value)))}" }.joined(),
      String(decoding: password.utf16.map(\.byteSwapped), as: UTF16.self),
      pairs(of: password.utf8.map { "%" + hex($0) }.joined()),
      password.replacing("ö", with: "&ouml ").replacing(" ", with: "=A0"),
      between("&nbsp;"), between("&ZeroWidthSpace;"), between("<br>"), between("</b> <b>"), between("&lt;br/&gt;"),
      password.utf8.map { "=" + hex($0).uppercased() }.joined(),
      password.utf8.map { "\\" + String(repeating: "0", count: $0 < 64 ? 1 : 0) + String($0, radix: 8) }.joined(),
    ]
  }

  /// The password's characters with something between them.
  private static func between(_ mark: String) -> String { password.map(String.init).joined(separator: mark) }

  /// The bytes of `text` taken for UTF-16.
  private static func pairs(of text: String) -> String {
    let bytes = Array(text.utf8) + (text.utf8.count % 2 == 0 ? [] : [0x20])
    let units = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    return String(decoding: units, as: UTF16.self)
  }

  static func hex(_ byte: UInt8) -> String {
    let text = String(byte, radix: 16)
    return byte < 16 ? "0" + text : text
  }

  @Test("a secret is cut out in each spelling, and what stands around it stays", arguments: try spellings())
  func cut(spelling: String) throws {
    let secrets = RequestSecrets(of: try Self.request())
    let shown = secrets.cut(from: "before \(spelling) behind")
    #expect(shown.hasPrefix("before ") && shown.hasSuffix(" behind") && shown.contains(RequestSecrets.mark))
    #expect(!secrets.appear(in: shown))
    for secret in [Self.password, Self.clientSecret, "Pa\"ss\\w", "of+alice", "cs:7Q%hT", "cs%3A7Q%25hT"] {
      #expect(!shown.contains(secret))
    }
  }

  @Test("each piece of eight bytes is cut out, wherever it begins")
  func pieces() throws {
    let secrets = RequestSecrets([Secret("0123456789abcdef")])
    for start in 0...8 {
      let piece = String("0123456789abcdef".dropFirst(start).prefix(8))
      #expect(secrets.cut(from: "it was \(piece)!") == "it was [cut]!")
    }
    #expect(secrets.cut(from: "it was 0123456!") == "it was 0123456!")
  }

  @Test(
    "a short secret is cut out whole; one that is in every text is not looked for",
    arguments: [("hunter2", "you said [cut]"), ("abc", "you said abc")])
  func short(secret: String, shown: String) {
    #expect(RequestSecrets([Secret(secret)]).cut(from: "you said \(secret)") == shown)
  }

  @Test(
    "what is public in a request is told", arguments: ["app", "alice", "read_repository", "password", "grant_type"])
  func publicWords(word: String) throws {
    let secrets = RequestSecrets(of: try Self.request())
    #expect(secrets.cut(from: "the \(word) is wrong") == "the \(word) is wrong")
  }

  @Test("every answer is freed of the secrets of its request, by whichever member they come")
  func answers() throws {
    let request = try Self.request()
    for spelling in [Self.password, Self.clientSecret, request.body.reveal(), request.credentials?.reveal() ?? ""] {
      let quoted = spelling.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      let bodies = [
        #"{"error":"invalid_grant","error_description":"\#(quoted)"}"#, #"{"error":"x\#(quoted)"}"#,
        #"{"error":"invalid_grant","error_uri":"https://a.example/\#(quoted)"}"#,
        #"{"error":"server_error","error_description":"\#(quoted)"}"#,
        #"{"access_token":"a","token_type":"\#(quoted)"}"#,
        #"{"access_token":"a","token_type":"bearer","scope":"a \#(quoted) b"}"#,
        #"{"device_code":"d","user_code":"\#(quoted)","verification_uri":"https://a.example/"}"#,
        #"{"device_code":"d","user_code":"u","verification_uri":"https://a.example/\#(quoted)"}"#,
      ]
      for (status, headers) in [(200, []), (400, []), (302, [HTTPField("Location", "https://a.example/?\(spelling)")])]
      {
        for body in bodies {
          let answer = answer(status, body, headers)
          let token = TokenJudgement(judging: answer, to: request, now: 0).verdict
          let device = DeviceAuthorizationVerdict(judging: answer, to: request, now: 0)
          let revocation = RevocationVerdict(judging: answer, to: request, now: 0)
          var said = ["\(token)", token.logLine, "\(device)", "\(revocation)"]
          if case .granted(let grant) = token { said += grant.scope ?? [] }
          if case .refused(let error) = token { said += [error.code, error.explanation ?? ""] }
          if case .authorized(let found) = device { said += [found.userCode, found.verificationURI.text] }
          let secrets = RequestSecrets(of: request)
          #expect(said.filter { secrets.appear(in: $0) } == [], "\(status) \(body)")
        }
      }
    }
  }

  @Test("a log keeps the code, and no other word of the server")
  func logLines() throws {
    let said = #"{"error":"invalid_grant","error_description":"some words"}"#
    #expect(judge(400, said).verdict.logLine == "refused: invalid_grant")
    #expect("\(judge(400, said).verdict)".contains("some words"))
    let busy = judge(400, #"{"error":"server_error","error_description":"some words"}"#).verdict
    #expect(busy.logLine == "the answer is of no use: it says to try again later: server_error")
    let moved = judge(302, "", [HTTPField("Location", "https://some.example/words")]).verdict
    #expect(!moved.logLine.contains("words") && "\(moved)".contains("words"))
  }

  @Test("a registered error code is told even where a secret is spelled alike")
  func registered() throws {
    let request = HTTPRequest(.post, "https://as.example/", body: Secret("password=invalid_grant"))
    let verdict = TokenJudgement(judging: answer(400, #"{"error":"invalid_grant"}"#), to: request, now: 0).verdict
    #expect(verdict.label == "refused invalid_grant")
    let other = TokenJudgement(judging: answer(400, #"{"error":"my invalid_grant"}"#), to: request, now: 0).verdict
    #expect(other.label == "no reason")
  }

  @Test("the redirect's error tells neither the state nor what the login will send")
  func redirect() throws {
    let state = "state-of-this-login"
    let expectation = try AuthorizationExpectation(
      redirectURI: "http://127.0.0.1:1/callback", state: Secret(state), issuer: "https://as.example",
      issuerRequired: false, secrets: [Secret("the-code-verifier"), Secret("the-client-secret")])
    for secret in [state, "the-code-verifier", "the-client-secret"] {
      for rest in [
        "error=access_denied&error_description=\(secret)", "error=x\(secret)", "iss=https://\(secret)",
        "\(secret)&\(secret)",
      ] {
        let verdict = expectation.judge(method: "GET", target: "/callback?state=\(state)&\(rest)")
        if case .ignore = verdict { Issue.record("ignored: \(rest)") }
        #expect(!"\(verdict)".contains(secret) && !verdict.logLine.contains(secret))
      }
    }
  }
}
