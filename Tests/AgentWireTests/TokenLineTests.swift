import Testing

@testable import AgentWire

/// A generator with a fixed start, so that a failure can be had again.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

@Suite("The canonical spelling of token.get")
struct TokenLineTests {
  static let requests: [TokenLine.Request] = [
    .init(id: .number(0)),
    .init(id: .number(1), account: "work"),
    .init(id: .number(9_007_199_254_740_991), account: "work", minValiditySeconds: 0),
    .init(id: .number(2), url: "https://git.example:8443/team/app.git?x=[1]"),
    .init(id: .number(3), account: "a.b-c_d", url: "http://127.0.0.1/", minValiditySeconds: 86_400),
  ]

  /// The tokens are put in by the tests.
  static let answers = [
    TokenAnswer(
      accessToken: "", tokenType: "Bearer", expiresAt: 1_900_000_000, expiresInSeconds: 3_600,
      scope: ["read", "write"], account: "work", accountID: "00112233445566778899aabbccddeeff",
      authorityDigest: "a1b2", authorityHost: "h:8443", fingerprint: "sha256:00", matchedHost: "https://git.example",
      gitUsername: "oauth2"),
    TokenAnswer(
      accessToken: "", tokenType: "Bearer", expiresAt: nil, expiresInSeconds: nil, scope: [], account: "a",
      accountID: "b", fingerprint: "c"),
    TokenAnswer(
      accessToken: "", tokenType: "DPoP", expiresAt: -1, expiresInSeconds: 0, scope: ["x"], account: "", accountID: "",
      fingerprint: ""),
    TokenAnswer(
      accessToken: "", tokenType: "quo\"te", expiresAt: .max, expiresInSeconds: .min, scope: ["back\\slash"],
      account: "é", accountID: "", fingerprint: "",
      matchedHost: "http://[::1]:\(String(repeating: "1", count: 200))"),
  ]

  @Test("the coders and the canonical printer write the same request", arguments: requests)
  func sameRequest(request: TokenLine.Request) {
    let parameters = TokenGet(
      account: request.account, url: request.url, minValiditySeconds: request.minValiditySeconds)
    #expect(TokenLine.printRequest(request) == RequestEncoder.line(id: request.id, parameters))
  }

  @Test("a printed request is scanned as it was", arguments: requests)
  func requestRoundTrip(request: TokenLine.Request) {
    #expect(scan(request: TokenLine.printRequest(request).dropLast()) == request)
  }

  @Test("the coders and the frame write the same answer", arguments: answers.indices)
  func sameAnswer(index: Int) {
    for (id, token) in [(0, "t0ken.~+/=!|"), (5, ""), (RequestID.greatestNumber, "é")] {
      let expected = AnswerLine.success(.number(id), whole(Self.answers[index], token))
      #expect(printed(Self.answers[index], token, id) == expected)
    }
  }

  @Test("a token that needs an escape is left to the coders", arguments: ["quo\"te", "back\\slash", "tab\t", "\u{1}"])
  func escapedTokens(token: String) {
    #expect(!Array(token.utf8).withUnsafeBytes(TokenAnswerFrame.canCarry))
    #expect(Array("t0ken.~+/=!|é".utf8).withUnsafeBytes(TokenAnswerFrame.canCarry))
  }

  @Test("strings of every kind are spelled as the coders spell them")
  func sameStrings() {
    for code in 0..<0x500 {
      guard let scalar = Unicode.Scalar(code) else { continue }
      let text = "a\(Character(scalar))b"
      #expect(TokenLine.quoted(text) == WireJSON.encode(text), "U+\(String(code, radix: 16))")
    }
  }

  @Test("an answer is scanned as it was printed", arguments: answers.indices.dropLast())
  func answerRoundTrip(index: Int) throws {
    let line = printed(Self.answers[index], "t0ken", 5).dropLast()
    let answer = try #require(scan(answer: line))
    #expect(texts(answer, Array(line)) == texts(whole(Self.answers[index], "t0ken")))
  }

  @Test(
    "another spelling is not canonical",
    arguments: [
      "", "{}", #"{"jsonrpc":"2.0","id":1,"method":"token.get"}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{}} "#,
      #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"url":"u","account":"a"}}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"a",}}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{,"account":"a"}}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"a""url":"b"}}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"a","force":true}}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"\u0061"}}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"é"}}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"min_validity_s":86401}}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"min_validity_s":-1}}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"min_validity_s":007}}"#,
      #"{"jsonrpc":"2.0","id":-1,"method":"token.get","params":{}}"#,
      #"{"jsonrpc":"2.0","id":01,"method":"token.get","params":{}}"#,
      #"{"jsonrpc":"2.0","id":9007199254740992,"method":"token.get","params":{}}"#,
      #"{"jsonrpc":"2.0","id":99999999999999999999,"method":"token.get","params":{}}"#,
      #"{"jsonrpc":"2.0","id":"1","method":"token.get","params":{}}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"token.reject","params":{}}"#,
    ])
  func notCanonical(line: String) {
    #expect(scan(request: Array(line.utf8)) == nil)
  }

  @Test("whatever the scanner reads of a mutated request, the coders read too")
  func mutatedRequests() {
    var random = SeededGenerator(state: 1)
    var canonical = 0
    for _ in 0..<30_000 {
      let request = Self.requests.randomElement(using: &random) ?? Self.requests[0]
      let line = mutated(Array(TokenLine.printRequest(request).dropLast()), using: &random)
      guard let scanned = scan(request: line) else { continue }
      canonical += 1
      let parameters = try? RequestLine(line).parameters(TokenGet.self)
      let expected = TokenGet(
        account: scanned.account, url: scanned.url, minValiditySeconds: scanned.minValiditySeconds)
      #expect(parameters == expected, "\(String(decoding: line, as: UTF8.self))")
      #expect((try? RequestLine(line))?.id == scanned.id)
    }
    #expect(canonical > 1_000)
  }

  @Test("whatever the scanner reads of a mutated answer, the coders read too")
  func mutatedAnswers() {
    var random = SeededGenerator(state: 2)
    var canonical = 0
    for _ in 0..<30_000 {
      let answer = Self.answers.dropLast().randomElement(using: &random) ?? Self.answers[0]
      let line = mutated(Array(printed(answer, "t0ken", 5).dropLast()), using: &random)
      guard let scanned = scan(answer: line) else { continue }
      canonical += 1
      let parsed = try? AnswerLine.parse(line, as: TokenAnswer.self)
      #expect(parsed?.id == .number(scanned.id))
      #expect(
        texts(scanned, line) == (try? parsed?.result.get()).map(texts), "\(String(decoding: line, as: UTF8.self))")
    }
    #expect(canonical > 1_000)
  }

  private func scan(request line: some Collection<UInt8>) -> TokenLine.Request? {
    Array(line).withUnsafeBytes { TokenLine.scanRequest($0) }
  }

  private func scan(answer line: some Collection<UInt8>) -> TokenLine.Answer? {
    Array(line).withUnsafeBytes { TokenLine.scanAnswer($0) }
  }

  private func printed(_ answer: TokenAnswer, _ token: String, _ id: Int64) -> [UInt8] {
    let frame = TokenAnswerFrame(
      tokenType: answer.tokenType, scope: answer.scope, account: answer.account, accountID: answer.accountID,
      authorityDigest: answer.authorityDigest, authorityHost: answer.authorityHost, fingerprint: answer.fingerprint,
      gitUsername: answer.gitUsername)
    let token = Array(token.utf8)
    return [UInt8](unsafeUninitializedCapacity: frame.capacity(tokenCount: token.count, answer.matchedHost)) {
      memory, count in
      count = frame.write(
        id, expiresAt: answer.expiresAt, expiresInSeconds: answer.expiresInSeconds, answer.matchedHost,
        tokenCount: token.count, into: UnsafeMutableRawBufferPointer(memory)
      ) { $0.copyBytes(from: token) }
    }
  }

  private func whole(_ answer: TokenAnswer, _ token: String) -> TokenAnswer {
    var answer = answer
    answer.accessToken = token
    return answer
  }

  private func texts(_ answer: TokenAnswer) -> [String?] {
    [
      answer.accessToken, answer.account, answer.accountID, answer.authorityDigest, answer.authorityHost,
      answer.fingerprint, answer.tokenType, answer.gitUsername, answer.matchedHost, answer.expiresAt.map { String($0) },
      answer.expiresInSeconds.map { String($0) },
    ]
  }

  private func texts(_ answer: TokenLine.Answer, _ line: [UInt8]) -> [String?] {
    func text(_ range: Range<Int>?) -> String? { range.map { String(decoding: line[$0], as: UTF8.self) } }
    return [
      text(answer.accessToken), text(answer.account), text(answer.accountID),
      text(answer.authorityDigest), text(answer.authorityHost), text(answer.fingerprint), text(answer.tokenType),
      text(answer.gitUsername),
      text(answer.matchedHost), answer.expiresAt.map { String($0) }, answer.expiresInSeconds.map { String($0) },
    ]
  }

  /// Changes one to three places: a byte, a piece left out, doubled or moved.
  private func mutated(_ line: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
    var line = line
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let at = Int.random(in: 0..<line.count, using: &random)
      let end = min(line.count, at + Int.random(in: 1...12, using: &random))
      switch Int.random(in: 0..<5, using: &random) {
      case 0: line[at] = UInt8.random(in: 0...255, using: &random)
      case 1: line[at] = Array(#"{}[]",:\0123456789azu-+.e"#.utf8).randomElement(using: &random) ?? 0
      case 2: line.removeSubrange(at..<end)
      case 3: line.insert(contentsOf: line[at..<end], at: Int.random(in: 0..<line.count, using: &random))
      default: line[at] = line[at] ^ (1 << UInt8.random(in: 0..<8, using: &random))
      }
      if line.isEmpty { return [0] }
    }
    return line
  }
}
