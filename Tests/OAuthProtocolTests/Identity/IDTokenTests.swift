import OAuthProtocol
import Sealing
import Testing

@Suite("ID tokens: what is read, and what is refused before anything is believed")
struct IDTokenTests {
  private func problem(_ text: String) -> IDTokenProblem? {
    do throws(IDTokenProblem) {
      _ = try IDToken(Secret(text))
      return nil
    } catch { return error }
  }

  private func isMalformed(_ text: String) -> Bool {
    if case .malformed = problem(text) { true } else { false }
  }

  @Test("one that is whole is read")
  func whole() throws {
    let token = try IDToken(Secret(IDTokenText.make(["exp": "1700000600.5", "aud": #"["dev","dev"]"#])))
    #expect(token.issuer == IDTokenText.issuer && token.subject == "alice" && token.expires == 1_700_000_600)
  }

  @Test("alg none in any case, no alg and no signature are not signed")
  func unsigned() {
    for header in [#"{"alg":"none"}"#, #"{"alg":"None"}"#, #"{"typ":"JWT"}"#, #"{"alg":7}"#, "{}"] {
      #expect(problem(IDTokenText.make(header: header)) == .unsigned, "\(header)")
    }
    #expect(problem(IDTokenText.make(raw: "{}", signature: "")) == .unsigned)
  }

  @Test("one that is encrypted, too large, or of another number of parts is refused")
  func shape() {
    #expect(problem("a.b.c.d.e") == .encrypted)
    for text in ["", "a", "a.b", "a.b.c.d", "..", IDTokenText.make() + "."] { #expect(isMalformed(text), "\(text)") }
    let large = IDTokenText.make(["name": "\"" + String(repeating: "x", count: 16 << 10) + "\""])
    #expect(problem(large) == .tooLarge)
  }

  @Test("a name that stands twice, in the claims or the header, is refused")
  func twice() {
    let base = #""iss":"https://id.example","aud":"dev","sub":"alice","exp":1700000600,"iat":1700000000"#
    #expect(problem(IDTokenText.make(raw: "{\(base)}")) == nil)
    for claims in [
      #"{"iss":"https://evil.example",\#(base)}"#, #"{\#(base),"sub":"mallory"}"#, #"{\#(base),"x":1,"x":2}"#,
    ] { #expect(isMalformed(IDTokenText.make(raw: claims)), "\(claims)") }
    #expect(isMalformed(IDTokenText.make(header: #"{"alg":"none","alg":"RS256"}"#)))
  }

  @Test("JSON that is deep, cut off, no object, or in another alphabet is refused")
  func hostile() {
    let deep = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
    #expect(isMalformed(IDTokenText.make(["x": deep])))
    for claims in ["[]", "", "{", #"{"iss":"a"}x"#, "null"] {
      #expect(isMalformed(IDTokenText.make(raw: claims)), "\(claims)")
    }
    #expect(isMalformed("e30+." + IDTokenText.make().split(separator: ".").dropFirst().joined(separator: ".")))
    #expect(isMalformed(IDTokenText.make(header: #"{"alg":"RS256","crit":["b64"],"b64":false}"#)))
  }

  @Test("a claim that decides and is missing, or of another kind, is refused")
  func claims() {
    for name in ["iss", "sub", "aud", "exp", "iat"] {
      #expect(isMalformed(IDTokenText.make([name: nil])), "no \(name)")
      for value in ["7e400", "true", "{}", "[7]", "[]"] {
        #expect(isMalformed(IDTokenText.make([name: value])), "\(name): \(value)")
      }
    }
    for name in ["nonce", "azp", "at_hash"] { #expect(isMalformed(IDTokenText.make([name: "7"])), "\(name)") }
    for value in ["\"1700000600\"", "-1", "1e300"] {
      #expect(isMalformed(IDTokenText.make(["exp": value])), "\(value)")
    }
    #expect(isMalformed(IDTokenText.make(["sub": "\"" + String(repeating: "s", count: 256) + "\""])))
    #expect(isMalformed(IDTokenText.make(["sub": "\"\""])))
    #expect(isMalformed(IDTokenText.make(["auth_time": "\"then\""])))
  }

  @Test("the name that people know themselves by comes first, cut, escaped and without secrets")
  func names() throws {
    func shown(_ claims: [String: String?]) throws -> String? {
      try IDToken(Secret(IDTokenText.make(claims))).shownName(
        hiding: RequestSecrets([Secret("the-code-of-the-login")]))
    }
    #expect(try shown(["name": #""Alice A""#, "email": #""a@x""#, "preferred_username": #""alice""#]) == "alice")
    #expect(try shown(["name": #""Alice A""#, "email": #""""#]) == "Alice A (not verified)")
    let unverified = ["email": #""a@x""#, "email_verified": "false", "name": #""Alice A""#]
    #expect(try shown(unverified) == "a@x (not verified)", "anybody may write another's address")
    #expect(try shown(unverified.merging(["preferred_username": #""alice""#]) { $1 }) == "alice")
    #expect(try shown(["name": "7"]) == nil)
    #expect(try shown([:]) == nil)
    let long = String(repeating: "x", count: 1_000)
    #expect(try shown(["name": "\"\(long)\""])?.count == 100 + " (not verified)".count)
    #expect(try shown(["name": "\"\(long)\(long)\""]) == nil)
    #expect(try shown(["name": #""a\u001b[2J\u202e""#]) == "a\\u{1b}[2J\\u{202e} (not verified)")
    let told = try #require(try shown(["name": #""I am the-code-of-the-login""#]))
    #expect(told.hasPrefix("I am") && !told.contains("the-code-of-the-login"))
  }

  @Test("a person is expected by sub, user name or address, but by none that the server calls unverified")
  func expected() throws {
    func isOf(_ expected: String, _ claims: [String: String?] = [:]) throws -> Bool {
      try IDToken(Secret(IDTokenText.make(claims))).isOf(expected)
    }
    #expect(try isOf("alice") && !isOf("Alice") && !isOf(""))
    #expect(try isOf("al", ["preferred_username": #""al""#]))
    #expect(try isOf("A@X.example", ["email": #""a@x.example""#]))
    #expect(try isOf("a@x.example", ["email": #""a@x.example""#, "email_verified": "true"]))
    for value in ["false", #""false""#, #""no""#, "0", "[true]"] {
      #expect(try !isOf("a@x.example", ["email": #""a@x.example""#, "email_verified": value]))
    }
    // Two spellings of one text, and signs that become a letter in small.
    #expect(try isOf("jos\u{e9}", ["sub": "\"jos\u{e9}\""]) && !isOf("jos\u{e9}", ["sub": "\"jose\u{301}\""]))
    #expect(try !isOf("k@x.example", ["email": "\"\u{212a}@x.example\"", "email_verified": "true"]))
    #expect(try !isOf("Alice A", ["name": #""Alice A""#]), "anybody may choose a name")
  }
}
