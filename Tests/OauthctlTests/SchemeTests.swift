import AgentWire
import ArgumentParser
import Foundation
import OAuthTerms
import Testing

@testable import oauthctl

@Suite("Redirects that are no loopback listener with any port")
struct SchemeTests {
  private let handler = SchemeHandler(scheme: "com.example.app")

  @Test(
    "A scheme is a domain name in reverse, which can be part of a file's name",
    arguments: [
      ("com.example.app", true), ("io.my-app.x2", true), ("app", false), ("com..app", false),
      ("com.example.app.", false),
      (".com", false), ("Com.Example", false), ("com.example/app", false), ("com.exämple", false), ("", false),
      ("1.com", false), ("com.example app", false), (String(repeating: "a", count: 100) + ".b", false),
    ])
  func rule(scheme: String, isOne: Bool) { #expect((PrivateUseScheme.problem(in: scheme) == nil) == isOne) }

  @Test("The desktop entry names the program, the scheme and nothing that a shell would read")
  func entry() {
    let text = handler.text(executable: "/home/a b/bin/oauthctl")
    #expect(text?.contains("\nExec=\"/home/a b/bin/oauthctl\" redirect %u\n") == true)
    #expect(text?.contains("\nMimeType=x-scheme-handler/com.example.app;\n") == true)
    for path in ["/a\"/b", "/a`b", "/a$b", "/a\\b", "/a%b", "/a\nExec=b"] {
      #expect(handler.text(executable: path) == nil)
    }
  }

  @Test(
    "One line of mimeapps.list is changed, whatever else stands there",
    arguments: [
      ("", "[Default Applications]\nx-scheme-handler/com.example.app=oauthctl-com.example.app.desktop\n"),
      (
        "# mine\n[Added Associations]\na/b=c\n",
        "# mine\n[Added Associations]\na/b=c\n\n[Default Applications]\n"
          + "x-scheme-handler/com.example.app=oauthctl-com.example.app.desktop\n"
      ),
      (
        "[Default Applications]\na/b=c.desktop\nx-scheme-handler/com.example.app = old.desktop\n[Other]\n",
        "[Default Applications]\na/b=c.desktop\n"
          + "x-scheme-handler/com.example.app=oauthctl-com.example.app.desktop;old.desktop\n[Other]\n"
      ),
    ])
  func added(before: String, after: String) {
    var applications = MimeApplications(before)
    applications.add(handler)
    #expect(applications.text == after)
    applications.add(handler)
    #expect(applications.text == after)
    applications.remove(handler)
    #expect(!applications.text.contains("oauthctl"))
  }

  @Test("What is removed is our entry alone")
  func removed() {
    let others = "[Default Applications]\nx-scheme-handler/com.example.other=oauthctl-com.example.other.desktop\n"
    var applications = MimeApplications(
      others + "x-scheme-handler/com.example.app=oauthctl-com.example.app.desktop;other.desktop;\n")
    applications.remove(handler)
    #expect(applications.text == others + "x-scheme-handler/com.example.app=other.desktop\n")
    #expect(!applications.saysNothing)
    let declined = "[Removed Associations]\n\(handler.type)=\(handler.entry)\n"
    var elsewhere = MimeApplications(declined)
    elsewhere.add(handler)
    elsewhere.remove(handler)
    #expect(elsewhere.text.hasPrefix(declined), "what a person took away from us stays taken away")
    var ours = MimeApplications("")
    ours.add(handler)
    #expect(!ours.saysNothing)
    ours.remove(handler)
    #expect(ours.saysNothing)
  }

  @Test("The address that a desktop brings goes to the agent, without a login's id, and is not shown")
  func redirect() throws {
    let page = Page()
    let url = "com.example.app:/cb?code=secret&state=s"
    let command = try #require(try Oauthctl.parseAsRoot(["redirect", url]) as? RedirectCommand)
    try command.run(
      .scripted(page) { parameters throws(CommandError) in
        let asked = LoginComplete(redirectURL: url, timeoutMilliseconds: 1)
        guard parameters as? LoginComplete == asked else { throw .silent(status: 1) }
        return LoginProgress(state: .pending, account: "work")
      })
    #expect(page.error.contains("The login has its answer") && !(page.error + page.output).contains("secret"))
    let other = try #require(try Oauthctl.parseAsRoot(["redirect", "https://a/?code=secret"]) as? RedirectCommand)
    let refusal = #expect(throws: CommandError.self) {
      try other.run(.scripted(page) { _ throws(CommandError) in throw .silent(status: 1) })
    }
    #expect(refusal?.sentence?.contains("secret") == false)
  }

  @Test("Where nobody listens, what to do with the address is said at once")
  func words() throws {
    #expect(LoginWords.nothingListens(at: "http://127.0.0.1:8400/callback", isSetUp: false, readsInput: true) == nil)
    #expect(LoginWords.nothingListens(at: nil, isSetUp: false, readsInput: true) == nil)
    let claimed = try #require(
      LoginWords.nothingListens(at: "https://localhost:8400/cb", isSetUp: false, readsInput: true))
    #expect(claimed.first?.contains("https://localhost:8400/cb?…") == true && claimed.last?.hasSuffix("here: ") == true)
    #expect(
      LoginWords.nothingListens(at: "https://localhost:8400/cb", isListenedAt: true, isSetUp: false, readsInput: true)
        == nil
    )
    let own = try #require(LoginWords.nothingListens(at: "com.example.app:/cb", isSetUp: false, readsInput: true))
    #expect(own.first?.hasSuffix("oauthctl setup scheme com.example.app") == true && own.last == claimed.last)
    let shown = LoginWords.pasteBack(url: "U", redirectURI: "https://localhost:8400/cb", host: "h", isRemote: true)
    #expect(!shown.joined().contains("ssh"))
  }
}
