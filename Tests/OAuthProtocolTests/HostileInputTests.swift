@testable import OAuthProtocol
import HTTPTerms
import Sealing
import Testing

/// Documents broken at random, from fixed seeds: every reader must come to an end and keep its bounds.
@Suite struct HostileInputTests {
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  private static let seeds = [
    #"{"access_token":"at\u00e9","token_type":"Bearer","expires_in":3.6e3,"refresh_token":"r\\t","scope":"a b","x":[{"y":null}]}"#,
    "access_token=a%2Bb&refresh_token=r&expires_in=5&scope=x%2Cy",
    #"{"issuer":"https://as.example","token_endpoint":"https://as.example/t","scopes_supported":["a"]}"#,
    #"{"device_code":"d","user_code":"u","verification_uri":"https://h/","expires_in":9,"interval":5}"#,
    #"Basic realm="a, \"b\"", Bearer error="invalid_token", Negotiate YQ=="#,
    "https://[2001:db8::1]:8443/a/b?x=%20&y=1",
    "http://127.0.0.1:8914/callback?code=abc&state=st&iss=https%3A%2F%2Fas.example",
  ]

  /// Bytes flipped, taken out, doubled, and pieces that grammars care about put in.
  private static func broken(_ text: String, _ random: inout Generator) -> [UInt8] {
    var bytes = Array(text.utf8)
    let pieces = [
      "\"", "\\", "{", "}", "[", "]", ",", ":", "=", "&", "%", "#", "\0", "\n", "\u{202E}", "\\u", "\\ud800", "1e9999",
    ]
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: index)
      case 2: bytes.removeSubrange(index...)
      case 3: bytes.insert(contentsOf: bytes[index...].prefix(20), at: index)
      default: bytes.insert(contentsOf: (pieces.randomElement(using: &random) ?? "").utf8, at: index)
      }
    }
    return bytes
  }

  @Test("no broken input stops a reader or slips through its bounds", arguments: 0..<4)
  func broken(seed: Int) throws {
    var random = Generator(state: UInt64(seed))
    let expectation = try AuthorizationExpectation(
      redirectURI: "http://127.0.0.1:8914/callback", state: Secret("st"), issuer: "https://as.example",
      issuerRequired: true)
    let issuer = try Issuer("https://as.example")
    for text in Self.seeds {
      for _ in 0..<100 {
        let bytes = Self.broken(text, &random)
        let word = String(decoding: bytes, as: UTF8.self)
        for status in [200, 400] {
          let answer = HTTPAnswer(status: status, body: Secret(bytes))
          let judgement = TokenJudgement(judging: answer, now: 0)
          #expect((1...TokenResponse.tokenLimitBytes).contains(judgement.salvagedRefreshToken?.count ?? 1))
          if case .granted(let grant) = judgement.verdict {
            #expect(status == 200 && !grant.accessToken.isEmpty && grant.accessToken.consists(of: 0x21...0x7E))
          }
          let sentences = [
            "\(judgement.verdict)", "\(DeviceAuthorizationVerdict(judging: answer, now: 0))",
            "\(RevocationVerdict(judging: answer, now: 0))", "\(expectation.judge(pasted: word))",
          ]
          #expect(sentences.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202E}" } })
        }
        var discovery = Discovery(issuer: issuer)
        if case .found(let metadata, _) = discovery.judge(
          .answered(HTTPAnswer(status: 200, body: Secret(bytes))), now: 0)
        {
          #expect(metadata.tokenEndpoint.origin.scheme == .https)
        }
        #expect(Challenge.parse([word]).count <= Challenge.limit)
        if let url = try? WebURL(word) { #expect(url.origin.scheme == .https || url.origin.isLoopback) }
        if case .code(let code) = expectation.judge(method: "GET", target: String(word.dropFirst(21))) {
          #expect(code.consists(of: 0x20...0x7E))
        }
      }
    }
  }
}
