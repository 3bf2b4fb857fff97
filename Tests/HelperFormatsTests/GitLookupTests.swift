import Testing

@testable import HelperFormats

@Suite("What git is told")
struct GitLookupTests {
  static let hex = "00112233445566778899aabbccddeeff"
  static let token = HelperToken(
    accessToken: "t0ken", tokenType: "Bearer", expiresAt: 2_000_000_000, fingerprint: "sha256:" + hex,
    username: "oauth2", account: "work")
  static let bothCapabilities = "capability[]=authtype\ncapability[]=state\n"

  private func lookup(_ lines: String) throws -> GitLookup {
    let input = "\(lines)protocol=https\nhost=git.example\n\n"
    return try #require(GitLookup(try GitCredentialRequest(Array(input.utf8))))
  }

  struct Case: CustomTestStringConvertible {
    var testDescription: String
    var lines: String
    var scheme = GitLookup.Scheme.auto
    var output: String
    var hasNote = false
  }

  static let basic = "username=oauth2\npassword=t0ken\npassword_expiry_utc=2000000000\n"
  /// oauth2:t0ken
  static let newBasic = "authtype=Basic\ncredential=b2F1dGgyOnQwa2Vu\npassword_expiry_utc=2000000000\n"
  static let bearer = "authtype=Bearer\ncredential=t0ken\npassword_expiry_utc=2000000000\n"
  static let again = "continue=1\nstate[]=oauthctl:2:first:\(hex):work\n"

  static let cases = [
    Case(testDescription: "git 2.39 tells nothing: Basic", lines: "", output: basic),
    Case(
      testDescription: "git 2.41 tells what the server offers: Basic", lines: "wwwauth[]=Basic realm=\"x\"\n",
      output: basic),
    Case(
      testDescription: "git before 2.46 and a server that takes Bearer alone", lines: "wwwauth[]=Bearer realm=\"x\"\n",
      output: "quit=1\n", hasNote: true),
    Case(
      testDescription: "Bearer alone is answered with Bearer",
      lines: bothCapabilities + "wwwauth[]=Bearer realm=\"x\"\n",
      output: bothCapabilities + bearer + "ephemeral=1\n" + again),
    Case(
      testDescription: "the case of a scheme does not matter", lines: bothCapabilities + "wwwauth[]=BEARER\n",
      output: bothCapabilities + bearer + "ephemeral=1\n" + again),
    Case(
      testDescription: "both offered: Basic", lines: bothCapabilities + "wwwauth[]=Bearer\nwwwauth[]=Basic\n",
      output: bothCapabilities + newBasic + "ephemeral=1\n" + again),
    Case(
      testDescription: "both in one field: Basic",
      lines: bothCapabilities + "wwwauth[]=Bearer realm=\"a, b\", Basic realm=\"x\"\n",
      output: bothCapabilities + newBasic + "ephemeral=1\n" + again),
    Case(
      testDescription: "the word Basic inside a string is no offer",
      lines: bothCapabilities + "wwwauth[]=Bearer realm=\"x, Basic y\"\n",
      output: bothCapabilities + bearer + "ephemeral=1\n" + again),
    Case(
      testDescription: "before the first request nothing is offered: Basic", lines: bothCapabilities,
      output: bothCapabilities + newBasic + "ephemeral=1\n" + again),
    Case(
      testDescription: "neither offered: what is missing",
      lines: bothCapabilities + "wwwauth[]=Digest realm=\"x\"\nwwwauth[]=DPoP\n", output: "quit=1\n", hasNote: true),
    Case(
      testDescription: "authtype alone: nothing to continue with", lines: "capability[]=authtype\nwwwauth[]=Bearer\n",
      output: "capability[]=authtype\n" + bearer + "ephemeral=1\n"),
    Case(
      testDescription: "state alone: Basic, recoverable", lines: "capability[]=state\nwwwauth[]=Basic\n",
      output: "capability[]=state\n" + basic + again),
    Case(
      testDescription: "our state comes back: no further round",
      lines: bothCapabilities
        + "wwwauth[]=Bearer\nstate[]=oauthctl:2:first:\(String(repeating: "f", count: 32)):work\n",
      output: bothCapabilities + bearer + "ephemeral=1\nstate[]=oauthctl:2:last:\(hex):work\n"),
    Case(
      testDescription: "a state of ours that cannot be read: no further round either",
      lines: bothCapabilities + "wwwauth[]=Bearer\nstate[]=oauthctl:9:x\n",
      output: bothCapabilities + bearer + "ephemeral=1\nstate[]=oauthctl:2:last:\(hex):work\n"),
    Case(
      testDescription: "a state of another helper does not matter",
      lines: bothCapabilities + "wwwauth[]=Bearer\nstate[]=cache:1\n",
      output: bothCapabilities + bearer + "ephemeral=1\n" + again),
    Case(
      testDescription: "an emptied list of states is none",
      lines: bothCapabilities + "wwwauth[]=Bearer\nstate[]=oauthctl:2:first:\(hex):\nstate[]=\n",
      output: bothCapabilities + bearer + "ephemeral=1\n" + again),
    Case(
      testDescription: "the account wants Bearer", lines: bothCapabilities + "wwwauth[]=Basic\nwwwauth[]=Bearer\n",
      scheme: .bearer, output: bothCapabilities + bearer + "ephemeral=1\n" + again),
    Case(
      testDescription: "the account wants Basic", lines: bothCapabilities + "wwwauth[]=Bearer\n", scheme: .basic,
      output: bothCapabilities + newBasic + "ephemeral=1\n" + again),
  ]

  @Test("depends on what git and the server know", arguments: cases)
  func answers(_ example: Case) throws {
    let reply = try lookup(example.lines).answer(Self.token, scheme: example.scheme)
    #expect(reply.output == example.output)
    #expect((reply.note != nil) == example.hasNote)
  }

  @Test("a token whose end nobody knows: an old expiry is cleared, else none is named")
  func unknownExpiry() throws {
    var token = Self.token
    token.expiresAt = nil
    #expect(try lookup("").answer(token).output == "username=oauth2\npassword=t0ken\n")
    #expect(
      try lookup("password_expiry_utc=1900000000\n").answer(token).output
        == "username=oauth2\npassword=t0ken\npassword_expiry_utc=0\n")
  }

  @Test("an account without a user name for git has one that most servers do not look at")
  func defaultUsername() throws {
    var token = Self.token
    token.username = nil
    #expect(try lookup("").answer(token).output.hasPrefix("username=oauth2\n"))
  }

  @Test("our state names the token that was refused")
  func rejectedByState() throws {
    let other = String(repeating: "a", count: 32)
    let request = Self.bothCapabilities + "state[]=x:1\nstate[]=oauthctl:2:first:\(other):work\n"
    #expect(
      try lookup(request).question == .init(url: "https://git.example/", account: "work", rejected: "sha256:" + other))
    #expect(try lookup(Self.bothCapabilities).question.rejected == nil)
    for bad in [
      "", "2:", "2:first:zz:w", "2:first:\(other)0:w", "2:first:\(other.uppercased()):w", "1:\(other)", "2:\(other)",
      "2:second:\(other):w", "2:first:\(other)", "2:first:\(other):w:w",
    ] {
      #expect(try lookup("state[]=oauthctl:\(bad)\n").question.rejected == nil)
    }
  }

  @Test("a server that refused the scheme has not refused the token")
  func wrongScheme() throws {
    let ours = Self.bothCapabilities + "authtype=Basic\nstate[]=oauthctl:2:first:\(Self.hex):work\n"
    let wrong = try lookup(ours + "wwwauth[]=Bearer error=\"invalid_token\"\n")
    #expect(wrong.question.rejected == nil)
    // So the token that is sent by the right scheme may be refused once, as any first one.
    #expect(try wrong.answer(Self.token).output.hasSuffix(Self.again))
    #expect(try lookup(ours + "wwwauth[]=Basic\n").question.rejected == "sha256:" + Self.hex)
    #expect(try lookup(ours + "wwwauth[]=Bearer, Basic\n").question.rejected == "sha256:" + Self.hex)
    let bearer = Self.bothCapabilities + "authtype=Bearer\nstate[]=oauthctl:2:first:\(Self.hex):work\n"
    #expect(try lookup(bearer + "wwwauth[]=Bearer\n").question.rejected == "sha256:" + Self.hex)
  }

  @Test("what git left over tells that the token at hand was refused, when it is the one of that time")
  func leftover() throws {
    let refused = "wwwauth[]=Bearer error=\"invalid_token\"\nauthtype=Bearer\npassword_expiry_utc=2000000000\n"
    let second = try lookup(Self.bothCapabilities + refused).secondQuestion(after: Self.token)
    #expect(second == .init(url: "https://git.example/", account: "work", rejected: Self.token.fingerprint))
    var newer = Self.token
    newer.expiresAt = 2_000_003_600
    #expect(try lookup(refused).secondQuestion(after: newer) == nil)
    newer.expiresAt = nil
    #expect(try lookup(refused).secondQuestion(after: newer) == nil)
    for harmless in [
      "wwwauth[]=Bearer\npassword_expiry_utc=2000000000\n", "wwwauth[]=Bearer error=\"invalid_token\"\n",
      "wwwauth[]=Bearer error=\"insufficient_scope\"\npassword_expiry_utc=2000000000\n",
      refused + "state[]=oauthctl:2:first:\(Self.hex):work\n", refused + "state[]=oauthctl:9\n",
    ] {
      #expect(try lookup(harmless).secondQuestion(after: Self.token) == nil)
    }
  }

  @Test("after a refusal that came with the leftovers, the new token is the last one")
  func leftoverContinues() throws {
    let refused = Self.bothCapabilities + "wwwauth[]=Bearer error=\"invalid_token\"\npassword_expiry_utc=2000000000\n"
    let output = try lookup(refused).answer(Self.token, isSecond: true).output
    #expect(!output.contains("continue") && output.contains("state[]=oauthctl:2:last:"))
  }

  @Test("failures: silence, one line, or one line and no prompt")
  func failures() throws {
    let lookup = try lookup("")
    #expect(lookup.answer(.notOurs("who?"), isSetUp: false) == HelperReply())
    #expect(lookup.answer(.notOurs("who?")) == .init(output: "quit=1\n", note: "who?"))
    #expect(lookup.answer(.needsPerson("login needed")) == .init(output: "quit=1\n", note: "login needed"))
    #expect(lookup.answer(.other("later"), isSetUp: false) == .init(output: "", note: "later"))
    #expect(lookup.answer(.other("later")) == .init(output: "quit=1\n", note: "later"))
  }

  @Test(
    "what a line cannot carry is not written", arguments: ["", "a b", "a\nb", "a\rb", "a\u{0}", "\u{E9}", "\u{7F}"])
  func unwritableToken(text: String) throws {
    var token = Self.token
    token.accessToken = text
    let lookup = try lookup("")
    #expect(throws: HelperFormatError.unwritable("the access token")) { try lookup.answer(token) }
  }

  @Test("nor a user name", arguments: ["", "a\nquit=1", "a\r", "a\u{0}b", "a:b"])
  func unwritableUsername(text: String) throws {
    var token = Self.token
    token.username = text
    let lookup = try lookup("")
    #expect(throws: HelperFormatError.unwritable("the user name for git")) { try lookup.answer(token) }
  }

  @Test("a token that is bound to a key is not given away as a bearer")
  func otherType() throws {
    var token = Self.token
    token.tokenType = "DPoP"
    let reply = try lookup("").answer(token)
    #expect(reply.output == "quit=1\n" && reply.note?.contains("DPoP") == true)
    token.tokenType = "bearer"
    #expect(try lookup("").answer(token).output == Self.basic)
  }

  @Test("no answer holds a byte that ends a line early")
  func oneLineEach() throws {
    for example in Self.cases {
      let output = try lookup(example.lines).answer(Self.token, scheme: example.scheme).output
      #expect(output.utf8.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
      #expect(output.isEmpty || output.hasSuffix("\n"))
    }
  }
}
