import AgentTestSupport
import AgentWire
import DevAuthorizationServer
import Testing

@testable import AgentCore

extension CredentialService {
  /// Takes an account out of the index, which no event of it told.
  fileprivate func spoilIndex(_ name: String) { index.set(name, nil, end: nil) }

  /// Whether some accounts were looked at for a list, and others not yet.
  fileprivate var isHalfListed: Bool { index.isKept && (1..<accounts.count).contains(index.count) }
  fileprivate var isListed: Bool { index.isKept && index.count == accounts.count }

  /// What a list has to be: a look at every account, sorted.
  fileprivate func everyAccount() -> [AccountSummary] {
    accounts.keys.compactMap { summary($0) }.sorted { left, right in
      let (l, r) = (AccountIndex.rank(left.state), AccountIndex.rank(right.state))
      return l == r ? left.account < right.account : l < r
    }
  }
}

@Suite("Lists of accounts")
struct ListingTests {
  private static func definition(_ number: Int) -> AccountDefinition {
    .browser.changed {
      $0.name = "a\(number)"
      $0.file = "/etc/accounts.d/a\(number).toml"
      $0.keep = .onDemand
    }
  }

  /// All pages behind one another.
  private func list(_ fixture: AgentFixture, limit: Int) async throws -> [AccountSummary] {
    var (found, after) = ([AccountSummary](), String?.none)
    repeat {
      let page = try await fixture.call(AccountList(limit: limit, after: after))
      #expect(page.accounts.count <= limit)
      found += page.accounts
      after = page.next
    } while after != nil
    return found
  }

  private func expectRight(_ fixture: AgentFixture, _ what: String) async throws {
    for limit in [7, 500] {
      let listed = try await list(fixture, limit: limit)
      let wanted = await fixture.service.everyAccount()
      #expect(listed.map(\.account) == wanted.map(\.account), "\(what), pages of \(limit)")
      #expect(listed.map(\.state) == wanted.map(\.state), "\(what), pages of \(limit)")
    }
  }

  @Test("A list tells every account as it is, whatever has happened since the last one")
  func changes() async throws {
    let configuration = StaticConfiguration((0..<60).map(Self.definition))
    let fixture = AgentFixture(configuration: configuration)
    try await expectRight(fixture, "new")
    for number in [3, 50, 7, 21] { try await fixture.logIn("a\(number)") }
    try await expectRight(fixture, "four logged in")
    let started = try await fixture.start("a10", request: "ten")
    try await expectRight(fixture, "a login pending")
    _ = try await fixture.call(LoginCancel(loginID: started.loginID))
    try await expectRight(fixture, "a login cancelled")
    let token = try await fixture.call(TokenGet(account: "a7"))
    _ = try await fixture.call(TokenReject(account: "a7", rejected: RejectedToken(fingerprint: token.fingerprint)))
    try await expectRight(fixture, "a token rejected")
    fixture.clock.advance(by: 3_601)
    try await expectRight(fixture, "tokens expired by time alone")
    _ = try await fixture.call(TokenGet(account: "a21"))
    try await expectRight(fixture, "one refreshed")
    _ = try await fixture.call(AccountForget(account: "a3"))
    try await expectRight(fixture, "one forgotten")
    configuration.set((0..<90).filter { $0 != 50 && $0 != 60 }.map(Self.definition))
    _ = try await fixture.call(ConfigReload())
    try await expectRight(fixture, "others in the files")
    let listed = try await list(fixture, limit: 500)
    #expect(listed.count == 89)
    // Logged in, and its file is gone.
    let gone = listed.filter { $0.fileGone == true }
    #expect(gone.map(\.account) == ["a50"] && gone.map(\.state) == [.configInvalid])
    _ = try await fixture.call(VaultLock())
    #expect(try await list(fixture, limit: 7).map(\.state) == Array(repeating: .locked, count: 88))
    _ = try await fixture.call(VaultUnlock())
    try await expectRight(fixture, "unlocked again")
  }

  @Test("A login whose file is gone says where the file belongs, or where it is")
  func fileGone() async throws {
    let configuration = StaticConfiguration([Self.definition(1)])
    let fixture = AgentFixture(configuration: configuration)
    try await fixture.logIn("a1")
    func listed(_ folders: AccountFolders) async throws -> AccountSummary? {
      configuration.set([], folders: folders)
      _ = try await fixture.call(ConfigReload())
      return try await list(fixture, limit: 10).first
    }
    let gone = try await listed(AccountFolders(read: "/c/accounts.d"))
    #expect(gone?.reason == "its file is gone, and the login is still kept" && gone?.fileGone == true)
    #expect(
      gone?.nextStep == .advice("put it back as /c/accounts.d/a1.toml; or, to end the login: oauthctl logout a1"))
    for request in [TokenGet(url: "http://127.0.0.1:8080/x"), TokenGet()] {
      let failure = await fixture.failure(request)
      #expect(failure?.kind == .configInvalid && failure?.hint == gone?.nextStep, "not told to set up another account")
      #expect(failure?.message == "a1: its file is gone, and the login is still kept")
    }
    #expect(await fixture.failure(TokenGet(url: "https://other.example/"))?.kind == .accountUnknown)
    let elsewhere = try await listed(AccountFolders(read: "/c/accounts.d", usual: "/u/accounts.d", inUsual: ["a1"]))
    #expect(elsewhere?.reason == "its file is /u/accounts.d/a1.toml, and this agent reads /c/accounts.d")
    #expect(elsewhere?.nextStep == .restart(without: "XDG_CONFIG_HOME"))
    let other = try await listed(AccountFolders(read: "/c/accounts.d", usual: "/u/accounts.d", inUsual: ["b"]))
    #expect(other?.reason == gone?.reason && other?.nextStep == gone?.nextStep)
    _ = try await fixture.call(Logout(account: "a1"))
    #expect(await fixture.failure(TokenGet(url: "http://127.0.0.1:8080/x"))?.kind == .accountUnknown)
  }

  @Test("While many accounts are looked at for a list, others have their turn")
  func turns() async throws {
    let fixture = AgentFixture((0..<2_000).map(Self.definition))
    async let page = fixture.call(AccountList())
    var isServedInBetween = false
    try await eventually("all are looked at") {
      if await fixture.service.isHalfListed { isServedInBetween = true }
      return await fixture.service.isListed
    }
    #expect(isServedInBetween)
    #expect(try await page.accounts.count == WireLimits.pageSize)
  }

  @Test("Only what changed is looked at again")
  func incremental() async throws {
    let fixture = AgentFixture((0..<300).map(Self.definition))
    _ = try await fixture.call(AccountList())
    // An account that is woken for the first time may have changed by that.
    try await eventually("all are awake") { await !fixture.service.plan.isWaking }
    _ = try await fixture.call(AccountList())
    #expect(await !fixture.service.index.hasChanges)
    try await fixture.logIn("a5")
    var index = await fixture.service.index
    #expect(index.takeChanged(300) == ["a5"])
    await fixture.service.spoilIndex("a7")
    #expect(try await fixture.call(AccountList()).accounts.count == 299, "a list is not computed anew")
    // Nobody has to be told what nobody asks for.
    #expect(await !fixture.restarted().service.index.isKept)
  }
}
