import DevAuthorizationServer
import FoundationEssentials
import OAuthProtocol
import Testing

@Suite struct GitTests {
  static let refs = "/git/app.git/info/refs?service=git-upload-pack"

  @Test(
    "Only the three requests of the smart protocol reach a repository",
    arguments: [
      ("GET", refs, "/app.git/info/refs"), ("POST", "/git/a-1_b.git/git-upload-pack", "/a-1_b.git/git-upload-pack"),
      ("POST", "/git/app.git/git-receive-pack", "/app.git/git-receive-pack"),
      ("GET", "/git/app.git/info/refs", nil), ("GET", "/git/app.git/HEAD", nil), ("GET", "/git/app.git/config", nil),
      ("GET", "/git/../app.git/info/refs?service=git-upload-pack", nil),
      ("GET", "/git/..git/info/refs?service=git-upload-pack", nil),
      ("GET", "/git/.git/info/refs?service=git-upload-pack", nil),
      ("GET", "/git/%2e%2e.git/info/refs?service=git-upload-pack", nil),
      ("GET", "/git/app.git/../b.git/info/refs?service=git-upload-pack", nil),
      ("GET", "/git//app.git/info/refs?service=git-upload-pack", nil),
      ("GET", "/git/app/info/refs?service=git-upload-pack", nil),
      ("GET", "/git/app.git/info/refs?service=git-upload-pack&service=x", nil),
      ("POST", "/git/app.git/git-upload-archive", nil), ("DELETE", refs, nil),
    ] as [(String, String, String?)])
  func paths(method: String, target: String, pathInfo: String?) {
    #expect(GitRequest(DevRequest(method, target))?.pathInfo == pathInfo)
  }

  @Test(
    "A token opens as Bearer or as the password of any name; a 401 offers both",
    arguments: [
      ("Bearer TOKEN", true), ("bearer TOKEN", true), ("Basic oauth2:TOKEN", true), ("Basic :TOKEN", true),
      ("Basic alice:", false), ("Basic TOKEN:x", false), ("Bearer other", false), ("Negotiate TOKEN", false),
      (nil, false),
    ] as [(String?, Bool)])
  func admission(field: String?, isAdmitted: Bool) {
    var fixture = ServerFixture()
    let token = fixture.logIn().access
    var request = DevRequest("GET", GitTests.refs)
    if var text = field?.replacing("TOKEN", with: token) {
      if text.hasPrefix("Basic ") { text = "Basic " + Data(text.dropFirst(6).utf8).base64EncodedString() }
      request.headers = [HTTPField("Authorization", text)]
    }
    switch fixture.server.admit(git: request, at: fixture.now) {
    case .admitted(let subject, _):
      #expect(isAdmitted)
      #expect(subject == "alice")
    case .refused(let answer):
      #expect(!isAdmitted)
      #expect(answer.status == 401)
      let challenges = answer.headers.values("WWW-Authenticate")
      #expect(challenges.map { $0.prefix(5) } == ["Basic", "Beare"])
    }
    #expect(fixture.server.requests(to: .git) == 1)
  }

  @Test("Schemes can be taken away")
  func schemes() {
    var fixture = ServerFixture { $0.gitSchemes = ["Bearer"] }
    let request = DevRequest(
      "GET", GitTests.refs, headers: [ServerFixture.basic("x", fixture.logIn().access)])
    guard case .refused(let answer) = fixture.server.admit(git: request, at: fixture.now) else {
      Issue.record("Basic was let in")
      return
    }
    #expect(answer.headers.values("WWW-Authenticate") == ["Bearer realm=\"git\""])
  }

  @Test("A scripted git answer keeps the request from its repository")
  func scripted() {
    var fixture = ServerFixture()
    let request = DevRequest(
      "GET", GitTests.refs, headers: [HTTPField("Authorization", "Bearer \(fixture.logIn().access)")])
    fixture.server.script(.git, .answer(status: 403))
    guard case .refused(let answer) = fixture.server.admit(git: request, at: fixture.now) else {
      Issue.record("admitted")
      return
    }
    #expect(answer.status == 403)
    guard case .admitted = fixture.server.admit(git: request, at: fixture.now) else {
      Issue.record("refused")
      return
    }
  }

  @Test(
    "A CGI head is read within bounds",
    arguments: [
      ("Content-Type: a/b\r\n\r\nbody", .complete(200, [HTTPField("Content-Type", "a/b")], 21)),
      ("Status: 404 Not Found\nX: y\n\n", .complete(404, [HTTPField("X", "y")], 28)), ("\n", .complete(200, [], 1)),
      ("", .incomplete), ("A: b\r\n", .incomplete), ("A: b", .incomplete), ("no colon\n\n", .malformed),
      ("Status: 99 x\n\n", .malformed), ("Status: x\n\n", .malformed), ("A b: c\n\n", .malformed),
      ("A: b\u{1}\n\n", .malformed), (": b\n\n", .malformed),
    ] as [(String, Expected)])
  func cgi(text: String, expected: Expected) {
    #expect(Expected(CGIHead.read(Array(text.utf8))) == expected)
  }

  @Test("A CGI head that is too long, or has too many fields, is refused before its end")
  func longCGI() {
    let long = "A: " + String(repeating: "a", count: 17_000)
    for text in [long, long + "\n\n", String(repeating: "A: b\n", count: 65)] {
      let isMalformed = CGIHead.read(Array(text.utf8)) == .malformed
      #expect(isMalformed)
    }
  }

  enum Expected: Equatable, Sendable {
    case incomplete, malformed
    case complete(Int, [HTTPField], Int)

    init(_ reading: CGIHead.Reading) {
      switch reading {
      case .incomplete: self = .incomplete
      case .malformed: self = .malformed
      case .complete(let head): self = .complete(head.status, head.headers, head.bodyOffset)
      }
    }
  }
}
