import AgentCore
import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import Testing

@Suite("The link that a browser is started with")
struct LoginLinkTests {
  @Test("it leads to the authorization URL once, and holds nothing of it")
  func once() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    let (url, link) = (try #require(started.authorizationURL), try #require(started.browserURL))
    let redirect = try #require(started.redirectURI)
    let word = link.dropFirst(redirect.dropLast("/callback".count).count)
    #expect(link.hasPrefix(redirect.dropLast("/callback".count) + "/login/"))
    // 18 bytes in base64url: 144 bits.
    #expect(word.dropFirst("/login/".count).utf8.count == 24)
    #expect(try await fixture.follow(link) == .forward(url))
    #expect(try await fixture.follow(link) == .linkUsed)
    #expect(try await fixture.follow(try await fixture.location(started)) == .loggedIn)
  }

  @Test(
    "where nobody can listen for the answer, somebody listens for the link alone",
    arguments: [
      "https://app.example/cb", "com.example.app:/cb",
    ])
  func linkAlone(redirect: String) async throws {
    let fixture = AgentFixture([.browser.changed { $0.redirectURI = redirect }])
    let started = try await fixture.start()
    let (url, link) = (try #require(started.authorizationURL), try #require(started.browserURL))
    #expect(started.redirectURI == redirect && link.hasPrefix("http://127.0.0.1:"))
    let origin = link.dropLast("/login/".count + 24)
    let state = try #require(url.split(separator: "state=").last?.prefix { $0 != "&" })
    #expect(try await fixture.follow("\(origin)/cb?code=c&state=\(state)") == .notFound)
    #expect(try await fixture.follow(link) == .forward(url))
    #expect(try await fixture.follow(link) == .linkUsed)
  }

  @Test(
    "where nobody can listen for the link either, the login goes on without one",
    arguments: ["https://app.example/cb", "com.example.app:/cb"])
  func noLink(redirect: String) async throws {
    let fixture = AgentFixture([.browser.changed { $0.redirectURI = redirect }])
    fixture.redirects.remove("127.0.0.1")
    fixture.transport.withServer { $0.options.clients[0].redirectURIs.append(redirect) }
    let started = try await fixture.start()
    #expect(started.browserURL == nil && started.redirectURI == redirect)
    let location = try await fixture.location(started)
    #expect(location.hasPrefix(redirect))
    let progress = try await fixture.call(LoginComplete(loginID: started.loginID, redirectURL: location))
    #expect(progress.state == .complete)
  }

  @Test("other words, other methods and what stands behind the word lead nowhere, and use nothing up")
  func strangers() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    let link = try #require(started.browserURL)
    #expect(try await fixture.follow(link.dropLast() + "") == .linkUsed)
    #expect(try await fixture.follow(link + "?") == .linkUsed)
    #expect(try await fixture.follow(link + "/") == .linkUsed)
    #expect(try await fixture.follow(link, method: "POST") == .methodNotAllowed)
    #expect(try await fixture.follow(link.replacing("/login/", with: "/")) == .notFound)
    #expect(try await fixture.follow(link) == .forward(try #require(started.authorizationURL)))
  }

  @Test("callers that share a login have a link each, and whoever asks again gets one that works")
  func shared() async throws {
    let fixture = AgentFixture()
    let (first, second) = (try await fixture.start(request: "a"), try await fixture.start(request: "b"))
    let (one, two) = (try #require(first.browserURL), try #require(second.browserURL))
    #expect(one != two)
    let url = try #require(first.authorizationURL)
    #expect(try await fixture.follow(one) == .forward(url))
    #expect(try await fixture.follow(two) == .forward(url))
    let again = try #require(try await fixture.start(request: "a").browserURL)
    #expect(try await fixture.follow(again) == .forward(url))
  }

  @Test("there are 16 links at most: the oldest ends")
  func bounded() async throws {
    let fixture = AgentFixture()
    var links: [String] = []
    for _ in 0..<17 { links.append(try #require(try await fixture.start().browserURL)) }
    #expect(try await fixture.follow(links[0]) == .linkUsed)
    #expect(try await fixture.follow(links[1]) != .linkUsed)
    #expect(try await fixture.follow(links[16]) != .linkUsed)
  }

  @Test("after the login there is no link, and none is followed")
  func over() async throws {
    let fixture = AgentFixture()
    let started = try await fixture.start()
    _ = try await fixture.follow(try await fixture.location(started))
    let page = try await fixture.follow(try #require(started.browserURL))
    #expect(page == nil || page == .ignored || page == .linkUsed)
    #expect(try await fixture.start().browserURL == nil)
  }

  @Test(
    "a redirect path below /login/ is the redirect, and the link works beside it",
    arguments: ["/login/", "/login/callback", "/login"])
  func collision(_ path: String) async throws {
    let fixture = AgentFixture([.browser.changed { $0.redirectURI = "http://127.0.0.1:8765\(path)" }])
    let started = try await fixture.start()
    let link = try #require(started.browserURL)
    #expect(link.hasPrefix("http://127.0.0.1:8765/login/"))
    #expect(try await fixture.follow("http://127.0.0.1:8765\(path)?code=a&state=wrong") == .ignored)
    let url = try #require(started.authorizationURL)
    #expect(try await fixture.follow(link) == .forward(url))
    let state = try #require(url.split(separator: "&").first { $0.hasPrefix("state=") })
    let end = try await fixture.follow("http://127.0.0.1:8765\(path)?error=access_denied&\(state)")
    guard case .refused = end else {
      Issue.record("the redirect did not reach the login: \(String(describing: end))")
      return
    }
  }

  @Test(
    "it names the address that is listened on",
    arguments: [("http://localhost/callback", "http://127.0.0.1:"), ("http://[::1]/callback", "http://[::1]:")])
  func address(_ redirect: String, _ origin: String) async throws {
    let fixture = AgentFixture([.browser.changed { $0.redirectURI = redirect }])
    #expect(try #require(try await fixture.start().browserURL).hasPrefix(origin))
  }

  @Test("on https it is on the host that the certificate names, and leads to the authorization URL just so")
  func secure() async throws {
    let fixture = AgentFixture([.browser.changed { $0.listenSecurely("https://localhost:8443/callback") }])
    fixture.transport.withServer { $0.options.clients[0].redirectURIs.append("https://localhost:8443/callback") }
    let started = try await fixture.start()
    let link = try #require(started.browserURL)
    #expect(link.hasPrefix("https://localhost:8443/login/"))
    #expect(try await fixture.follow(link) == .forward(try #require(started.authorizationURL)))
    #expect(try await fixture.follow(try await fixture.location(started)) == .loggedIn)
  }

  @Test("a certificate's file that is not what it has to be is told, also where the browser is elsewhere")
  func noCertificate() async throws {
    let fixture = AgentFixture([
      .browser.changed { $0.listenSecurely("https://localhost:8443/callback", key: "/key.missing") }
    ])
    for isRemote in [nil, true] {
      let failure = await fixture.failure(LoginStart(requestID: "one", account: "work", remoteBrowser: isRemote))
      #expect(
        failure?.kind == .configInvalid && failure?.message.contains("https://localhost:8443/callback: no key") == true)
      #expect(failure?.hint?.text == "make one" && fixture.redirects.open.isEmpty)
    }
  }

  @Test("where the browser runs elsewhere, nobody listens for a link")
  func pasted() async throws {
    let fixture = AgentFixture([.browser.changed { $0.redirectURI = "https://client.example/callback" }])
    let started = try await fixture.call(LoginStart(requestID: "one", account: "work", remoteBrowser: true))
    #expect(started.authorizationURL != nil)
    #expect(started.browserURL == nil && started.listenerProblem == nil)
  }

  // MARK: Two addresses

  @Test("a fixed port of localhost that somebody else has on one address is told, and nothing is left open")
  func oneAddressTaken() async throws {
    for address in ["127.0.0.1", "::1"] {
      let fixture = AgentFixture([.browser.changed { $0.redirectURI = "http://localhost:8765/callback" }])
      fixture.redirects.take(8_765, on: address)
      let failure = await fixture.failure(LoginStart(requestID: "one", account: "work"))
      #expect(failure?.kind == .unavailable)
      #expect(failure?.message.contains("port 8765 on \(address) is in use") == true)
      #expect(
        failure?.hint?.text.hasPrefix("end what uses that port, or log in with --device; or have another ") == true)
      #expect(fixture.redirects.open.isEmpty)
    }
  }

  @Test("of localhost one address is enough only where the machine has no other: else another user may get that one")
  func oneAddressBroken() async throws {
    for (isBroken, isBegun) in [(true, false), (false, true)] {
      let fixture = AgentFixture([.browser.changed { $0.redirectURI = "http://localhost/callback" }])
      if isBroken { fixture.redirects.breakListener(on: "::1") } else { fixture.redirects.remove("::1") }
      let failure = await fixture.failure(LoginStart(requestID: "one", account: "work"))
      #expect((failure == nil) == isBegun && fixture.redirects.open.isEmpty == !isBegun)
    }
  }

  @Test(
    "past a port that somebody has an address is pasted only where an ID token tells that its code is of this login")
  func portOfOthers() async throws {
    func begin(_ scope: [String]) -> AgentFixture {
      let fixture = AgentFixture([
        .browser.changed {
          $0.redirectURI = "http://127.0.0.1:8765/callback"
          $0.scope = scope
        }
      ])
      fixture.redirects.take(8_765)
      return fixture
    }
    let withoutNonce: [String: String?] = ["nonce": nil]
    let request = LoginStart(requestID: "one", account: "work", remoteBrowser: true)
    let refused = await begin(["read"]).failure(request)
    #expect(refused?.kind == .unavailable && refused?.hint?.text.contains("paste") == false)
    for isProven in [true, false] {
      let fixture = begin(["openid", "read"])
      if !isProven { fixture.transport.withServer { $0.options.idTokenClaims = withoutNonce } }
      let started = try await fixture.call(request)
      let location = try await fixture.location(started)
      let failure = await fixture.failure(LoginComplete(loginID: started.loginID, redirectURL: location))
      #expect((failure == nil) == isProven && (fixture.store.count == 1) == isProven)
      guard !isProven else { continue }
      #expect(failure?.kind == .loginCancelled && failure?.hint?.text.contains("paste") == false)
      try await eventually("it is revoked") { fixture.transport.withServer { $0.requests(to: .revoke) } == 1 }
    }
  }

  @Test("a free port that is taken on the other address gives way to the next")
  func anotherPort() async throws {
    let fixture = AgentFixture([.browser.changed { $0.redirectURI = "http://localhost/callback" }])
    let port = fixture.redirects.nextPort
    fixture.redirects.take(port, on: "::1")
    let started = try await fixture.start()
    #expect(started.redirectURI?.contains(":\(port)/") == false)
    #expect(fixture.redirects.open.count == 1)
    #expect(try await fixture.follow(try await fixture.location(started)) == .loggedIn)
  }

  @Test("an examination looks at the certificate as a login does, and tells its end two weeks before")
  func certificateChecked() async throws {
    let fixture = AgentFixture([.browser.changed { $0.listenSecurely("https://localhost:8443/cb") }])
    func concerns() async throws -> [AccountConcern] {
      let checked = try await fixture.call(AccountCheck(account: "work", definition: nil))
      #expect(fixture.redirects.open.isEmpty)
      return (checked.concerns ?? []).filter { $0.check == AccountConcern.redirect }
    }
    let now = Int(fixture.clock.now().wallSeconds)
    for (days, isTold) in [(15, false), (13, true)] {
      fixture.redirects.endCertificates(at: now + days * 86_400 + 60)
      #expect(
        try await concerns().map(\.message)
          == (isTold ? ["the certificate in /cert.pem ends in 13 days: no login by browser then"] : []))
      #expect(try await concerns().allSatisfy { $0.isBlocking == nil && $0.hint.hasPrefix("mkcert ") })
    }
    fixture.configuration.set([.browser.changed { $0.listenSecurely("https://localhost:8443/cb", key: "/k.missing") }])
    _ = try await fixture.call(ConfigReload())
    #expect(try await concerns().map(\.message) == ["no login by browser: no key"])
    #expect(try await concerns().map(\.isBlocking) == [true])
  }

  @Test("a machine without the other address listens on one", arguments: ["127.0.0.1", "::1"])
  func oneAddress(_ missing: String) async throws {
    let fixture = AgentFixture([.browser.changed { $0.redirectURI = "http://localhost/callback" }])
    fixture.redirects.remove(missing)
    let started = try await fixture.start()
    #expect(started.browserURL?.hasPrefix(missing == "::1" ? "http://127.0.0.1:" : "http://[::1]:") == true)
  }
}

extension AccountDefinition {
  fileprivate mutating func listenSecurely(_ redirect: String, key: String = "/key.pem") {
    redirectURI = redirect
    redirectIdentity = RedirectIdentityFiles(certificate: "/cert.pem", key: key)
  }
}
