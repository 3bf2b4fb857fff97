import AgentCore
import FetchWire
import HTTPTerms
import Testing

@testable import AgentRuntime

@Suite("Which requests of a browser reach the login")
struct RedirectRulesTests {
  private let rules = RedirectRules(port: 8_914)

  private func request(
    _ method: String = "GET", _ target: String = "/callback?code=c", hosts: [String] = ["127.0.0.1:8914"],
    hasBody: Bool = false
  ) -> RedirectRequest {
    RedirectRequest(method: method, target: target, hosts: hosts, hasBody: hasBody)
  }

  @Test(
    "A plain GET for an address of this computer does",
    arguments: ["127.0.0.1:8914", "127.9.9.9:8914", "localhost:8914", "[::1]:8914"])
  func ours(_ host: String) {
    #expect(rules.judge(request(hosts: [host]), end: nil) == .ask(target: "/callback?code=c"))
  }

  @Test(
    "Another name, port or number of Host fields does not",
    arguments: [
      [], ["127.0.0.1:8914", "127.0.0.1:8914"], ["127.0.0.1"], ["127.0.0.1:8915"], ["evil.example:8914"],
      ["localhost.evil.example:8914"], ["user@127.0.0.1:8914"], ["127.0.0.1:8914/x"], [""],
    ] as [[String]])
  func foreign(_ hosts: [String]) {
    #expect(rules.judge(request(hosts: hosts), end: nil) == .answer(.wrongHost))
  }

  @Test("On https the same, and no port is written where it is the usual one")
  func secure() {
    let (rules, usual) = (RedirectRules(port: 8_914, scheme: .https), RedirectRules(port: 443, scheme: .https))
    for (rules, host) in [(rules, "localhost:8914"), (usual, "localhost"), (usual, "[::1]:443")] {
      #expect(rules.judge(request(hosts: [host]), end: nil) == .ask(target: "/callback?code=c"))
    }
    for (rules, host) in [(rules, "localhost"), (usual, "localhost:80"), (rules, "evil.example:8914"), (usual, "evil")]
    {
      #expect(rules.judge(request(hosts: [host]), end: nil) == .answer(.wrongHost))
    }
  }

  @Test("Another method, an absolute target or a body does not")
  func odd() {
    for method in ["HEAD", "POST", "get", ""] {
      #expect(rules.judge(request(method), end: nil) == .answer(.methodNotAllowed))
    }
    for target in ["http://127.0.0.1:8914/callback", "*", ""] {
      #expect(rules.judge(request("GET", target), end: nil) == .answer(.malformed))
    }
    #expect(rules.judge(request(hasBody: true), end: nil) == .answer(.malformed))
    var forwarded = request()
    forwarded.isForwarded = true
    #expect(rules.judge(forwarded, end: nil) == .answer(.forwarded))
    #expect(rules.judge(forwarded, end: .loggedIn) == .answer(.forwarded))
  }

  @Test("After the end there is only the landing page, and nothing reaches the login")
  func over() {
    let page = RedirectReply(landing: .loggedIn)
    #expect(rules.judge(request("GET", "/done"), end: .loggedIn) == .landing(page))
    #expect(rules.judge(request("GET", "/done?x"), end: .loggedIn) == .answer(.gone))
    #expect(rules.judge(request(), end: .loggedIn) == .answer(.gone))
    #expect(rules.judge(request("POST", "/done"), end: .loggedIn) == .answer(.methodNotAllowed))
    #expect(rules.judge(request("GET", "/done", hosts: ["x:8914"]), end: .loggedIn) == .answer(.wrongHost))
  }

  @Test("Every page of a login fits into what its helper takes")
  func pagesFit() throws {
    let reason = String(repeating: "'", count: 4_096)
    for page in [RedirectPage.refused(reason: reason), .codeRefused(reason: reason), .ignored, .linkUsed] {
      for reply in [RedirectReply(page), RedirectReply(landing: page)] {
        #expect(throws: Never.self) { try RedirectOrder.answer(1, reply).encoded() }
      }
    }
  }
}
