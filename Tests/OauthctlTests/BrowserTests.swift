import AgentWire
import Testing

@testable import oauthctl

@Suite("The browser")
struct BrowserTests {
  @Test(
    "BROWSER is a list of programs without blanks",
    arguments: [
      (nil, ["xdg-open", "wslview", "open"], []), ("firefox", ["firefox"], []), ("a:/b/c", ["a", "/b/c"], []),
      ("", [], []), ("::a:", ["a"], []), ("firefox %s", [], ["firefox %s"]), ("a%s:b", ["b"], ["a%s"]),
      ("sh -c x:b", ["b"], ["sh -c x"]), ("-x", [], ["-x"]), ("a\tb:c\n", [], ["a\tb", "c\n"]),
    ] as [(String?, [String], [String])])
  func rule(browser: String?, programs: [String], refused: [String]) {
    let rule = BrowserRule(Environment((browser.map { ["BROWSER": $0] } ?? [:]).merging(["DISPLAY": ":0"]) { $1 }))
    #expect(rule.programs == programs)
    #expect(rule.refused == refused)
  }

  @Test("Without a display nothing is started that would show nothing, unless BROWSER says so")
  func noDisplay() {
    #expect(BrowserRule(Environment([:])).programs == ["wslview"])
    #expect(BrowserRule(Environment(["WAYLAND_DISPLAY": "wayland-0"])).programs.first == "xdg-open")
    #expect(BrowserRule(Environment(["BROWSER": "w3m"])).programs == ["w3m"])
  }

  @Test("After a while the redirect address that was sent is told, and that it can be pasted")
  func stillWaiting() {
    var login = LoginStarted(loginID: "1", kind: .browser, account: "work", expiresInSeconds: 300)
    login.redirectURI = "http://127.0.0.1:8914/callback"
    let lines = LoginWords.stillWaiting(login, secondsLeft: 280, readsInput: true)
    #expect(lines.contains { $0.contains("http://127.0.0.1:8914/callback") && $0.contains("--port N") })
    #expect(lines.last?.contains("pasted") == true)
    #expect(LoginWords.stillWaiting(login, secondsLeft: 280, readsInput: false).allSatisfy { !$0.contains("pasted") })
  }

  @Test("Where somebody listens on https, a browser that does not trust the certificate is among what is told")
  func untrusted() {
    var login = LoginStarted(loginID: "1", kind: .browser, account: "work", expiresInSeconds: 300)
    login.redirectURI = "https://localhost:8443/callback"
    func tells() -> Bool {
      LoginWords.stillWaiting(login, secondsLeft: 280, readsInput: true).contains { $0.contains("certificate") }
    }
    #expect(!tells())
    login.browserURL = "https://localhost:8443/login/word"
    #expect(tells())
    login.redirectURI = "http://127.0.0.1:8443/callback"
    #expect(!tells())
  }

  @Test(
    "Of a scheme's address it is said whether it finishes by itself, and nothing of ports",
    arguments: [
      (
        false, true,
        [
          "It finishes by itself where this was run once: oauthctl setup scheme com.example.app",
          "Else the browser will end on com.example.app:/cb?…, whether or not it can open that:",
          "copy that address and paste it here: ",
        ]
      ),
      (
        false, false,
        [
          "It finishes by itself where this was run once: oauthctl setup scheme com.example.app",
          "Else the browser will end on com.example.app:/cb?…, whether or not it can open that.",
        ]
      ),
      (
        true, true,
        [
          "It finishes by itself; else the browser will end on com.example.app:/cb?…, whether or not it can open that:",
          "copy that address and paste it here: ",
        ]
      ),
      (true, false, ["It finishes by itself."]),
    ])
  func scheme(isSetUp: Bool, readsInput: Bool, lines: [String]) {
    let address = "com.example.app:/cb"
    #expect(LoginWords.nothingListens(at: address, isSetUp: isSetUp, readsInput: readsInput) == lines)
    #expect(LoginWords.nothingListens(at: "http://127.0.0.1:1/cb", isSetUp: isSetUp, readsInput: readsInput) == nil)
    var login = LoginStarted(loginID: "1", kind: .browser, account: "work", expiresInSeconds: 300)
    login.redirectURI = address
    #expect(LoginWords.stillWaiting(login, secondsLeft: 9, readsInput: false).allSatisfy { !$0.contains("--port") })
    #expect(!LoginWords.notFinished(login, seconds: 3).contains("--port"))
  }

  @Test("A login by browser that nobody finished ends with the address that the server has to know")
  func notFinished() {
    var login = LoginStarted(loginID: "1", kind: .browser, account: "work", expiresInSeconds: 300)
    login.redirectURI = "http://127.0.0.1:8914/callback"
    let words = LoginWords.notFinished(login, seconds: 3)
    #expect(words.hasPrefix("work: nobody finished the login within 3 s; if the browser showed an error"))
    #expect(words.contains("http://127.0.0.1:8914/callback (a fixed port: --port N)"))
    let fixed = LoginWords.notFinished(login, account: "redirect_uri = \"http://127.0.0.1:8914/callback\"", seconds: 3)
    #expect(fixed.hasSuffix("http://127.0.0.1:8914/callback"))
    login.kind = .device
    #expect(LoginWords.notFinished(login, seconds: 3) == "work: nobody finished the login within 3 s")
  }

  @Test(
    "Only https, or http on this machine, is handed to a browser",
    arguments: [
      ("https://a/x?y=z&a=%20", true), ("http://127.0.0.1:1/x", true), ("http://[::1]:1/", true),
      ("http://localhost/", true),
      ("http://a/", false), ("file:///x", false), ("javascript:alert(1)", false), ("-https://a/", false), ("", false),
      ("https://", false), ("https://a/ b", false), ("https://a/\"", false), ("https://a/\n", false),
      ("https://a/é", false),
      ("http://127.0.0.1@evil/", false), ("http://127.0.0.1.evil/", false), ("http://127.1/", false),
      ("http://127.0.0.256/", false),
      ("http://localhost.evil/", false), ("http://[::1].evil/", false), ("HTTPS://a/", false),
    ])
  func safe(url: String, isSafe: Bool) { #expect(BrowserRule.isSafe(url) == isSafe) }

  @Test(
    "Over ssh without a display nobody sits here",
    arguments: [
      ([:], false), (["SSH_CONNECTION": "a"], true), (["SSH_TTY": "a"], true),
      (["SSH_CONNECTION": "a", "DISPLAY": ":0"], false), (["SSH_CONNECTION": "a", "WAYLAND_DISPLAY": "w"], false),
      (["SSH_CONNECTION": "a", "DISPLAY": ""], true),
    ] as [([String: String], Bool)])
  func remote(variables: [String: String], isRemote: Bool) {
    #expect(Environment(variables).isRemoteSession == isRemote)
  }

  @Test("Who wanted a device code and joins a login by browser is told so")
  func joined() {
    var login = LoginStarted(loginID: "1", kind: .browser, account: "work", expiresInSeconds: 300)
    #expect(LoginWords.joined(login, wantsDevice: true)?.hasPrefix("work: a login by browser is under way") == true)
    #expect(LoginWords.joined(login, wantsDevice: false) == nil)
    login.kind = .device
    #expect(LoginWords.joined(login, wantsDevice: true) == nil)
  }

  @Test("Paste-back names the address the browser ends on, and the tunnel")
  func pasteBack() {
    let lines = LoginWords.pasteBack(
      url: "https://a/auth", redirectURI: "http://127.0.0.1:8914/callback", host: "box", isRemote: true)
    #expect(
      lines == [
        "No browser here. Open this on any machine:", "  https://a/auth",
        "  (run  ssh -L 8914:127.0.0.1:8914 box  first, and it finishes by itself)",
        "The browser will end on a page it cannot open (http://127.0.0.1:8914/callback?…). That is right:",
        "copy that address and paste it here: ",
      ])
  }

  @Test(
    "Where another program has the port, nobody is told that the login finishes by itself", arguments: [true, false])
  func portTaken(isRemote: Bool) {
    let lines = LoginWords.pasteBack(
      url: "https://a/auth", redirectURI: "http://127.0.0.1:8914/callback", problem: "port 8914 is in use", host: "box",
      isRemote: isRemote)
    #expect(
      lines == [
        "Open this in a browser:", "  https://a/auth", "Nobody listens for it here: port 8914 is in use.",
        "So the browser will end on http://127.0.0.1:8914/callback?…, whether or not it can open that:",
        "copy that address and paste it here: ",
      ])
  }

  @Test(
    "The end of a login says how long it lasts",
    arguments: [
      (7_200, true, [], ["Logged in as work. This token lasts 2 h and is renewed by itself."]),
      (
        3_600, false, ["b"],
        [
          "Logged in as work. This token lasts 1 h; then log in again: the server gave no refresh token.",
          "Not granted: b.",
        ]
      ),
      (
        nil, true, [],
        ["Logged in as work. The server does not say how long this token lasts; it is renewed by itself."]
      ),
    ] as [(Int?, Bool, [String], [String])])
  func done(seconds: Int?, renewable: Bool, missing: [String], lines: [String]) {
    let progress = LoginProgress(
      state: .complete, account: "work", expiresInSeconds: seconds, renewable: renewable, scope: ["a"],
      missingScope: missing)
    #expect(LoginWords.done(progress) == lines)
  }

  @Test("It says who has logged in where the server told, and not as a terminal would act on it")
  func user() {
    let progress = LoginProgress(
      state: .complete, account: "work", expiresInSeconds: 60, renewable: true, user: "alice\u{1B}[2J")
    #expect(LoginWords.done(progress).last == "The server knows you as alice\\u{1B}[2J.")
  }

  @Test(
    "A pasted address may come with quotes and blanks",
    arguments: [(" 'http://x' \r", "http://x"), ("<http://x>", "http://x"), ("", ""), (" \t", ""), ("a b", "a b")])
  func pasted(text: String, trimmed: String) { #expect(text.trimmed == trimmed) }
}
