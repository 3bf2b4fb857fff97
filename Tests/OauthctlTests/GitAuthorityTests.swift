import AgentWire
import HelperFormats
import Testing

@testable import oauthctl

@Suite("git's private authorities")
struct GitAuthorityTests {
  private static let copies = GitAuthorityCopies(folder: "/state/oauthctl/authorities")

  private static func account(_ name: String, at host: String) -> AccountSummary {
    var account = PretendedAgent().account
    (account.account, account.host, account.hosts) = (name, host, ["https://\(host)"])
    return account
  }

  @Test("A copy is set where there is none and in the place of others, and taken away")
  func commands() {
    let key = "http.https://h.sslCAInfo"
    #expect(GitSetup.authorityKey(host: "h") == key && GitSetup.authorityKey(host: "h/team/one.git") == key)
    #expect(GitSetup.authorityPathKey(host: "h/team") == "http.https://h/team.sslCAInfo")
    #expect(GitSetup.authorityPathKey(host: "h") == nil && GitSetup.authorityPathKey(host: "http://h") == nil)
    func plan(_ values: [String], _ copy: String?) -> [[String]] {
      GitSetup.authority(key: key, values: values, copy: copy)
    }
    #expect(plan([], "/copy.pem") == [[key, "/copy.pem"]] && plan(["/copy.pem"], "/copy.pem").isEmpty)
    #expect(plan(["/old.pem"], "/copy.pem") == [["--replace-all", key, "/copy.pem"]])
    #expect(plan(["/old.pem", "/copy.pem"], "/copy.pem") == [["--replace-all", key, "/copy.pem"]])
    #expect(plan(["/copy.pem"], nil) == [["--unset-all", key]] && plan([], nil).isEmpty)
  }

  @Test("A server's authority stays while git asks us for another part of it")
  func stays() {
    let ours = "/opt/oauthctl git-credential"
    let list = "credential.https://h:1/a.helper\n\(ours)\0credential.https://h:1/b.helper\n\(ours)\0"
    func isAsked(_ host: String, besides hosts: [String]) -> Bool {
      SetupCommand.Git.isAsked(forServerOf: host, besides: hosts, in: list)
    }
    #expect(isAsked("h:1/a", besides: ["h:1/a"]) && !isAsked("h:1/a", besides: ["h:1/a", "https://h:1/b"]))
    #expect(!isAsked("h:2/a", besides: ["h:2/a"]))
    func isPortAsked(besides hosts: [String]) -> Bool {
      SetupCommand.Git.isAsked(forPortOf: "https://h", besides: hosts, in: list)
    }
    #expect(isPortAsked(besides: ["h:1/a"]) && !isPortAsked(besides: ["h:1/a", "h:1/b"]))
  }

  @Test("No other authority is believed beside a copy, unless the user says which folder")
  func folder() {
    let key = "http.https://h.sslCAPath"
    #expect(GitSetup.authorityFolderKey(host: "h") == key)
    func plan(_ values: [String], _ hasCopy: Bool) -> [[String]] {
      GitSetup.authorityFolder(key: key, values: values, hasCopy: hasCopy)
    }
    #expect(plan([], true) == [[key, "/dev/null"]] && plan(["/dev/null"], false) == [["--unset-all", key]])
    #expect(plan(["/dev/null"], true).isEmpty && plan([], false).isEmpty)
    for hasCopy in [true, false] { #expect(plan(["/mine"], hasCopy).isEmpty) }
  }

  @Test("git is asked only where its configuration has a copy's folder, or other files")
  func look() {
    func mayBeNamed(_ text: String) -> Bool { GitAuthorityCopies.mayBeNamed(in: Array(text.utf8)) }
    #expect(mayBeNamed("[http]\n\tsslCAInfo = /state/oauthctl/authorities/work@h.pem\n"))
    #expect(mayBeNamed("[Include]\n\tpath = other") && mayBeNamed("[includeIf \"gitdir:~/work/\"]"))
    #expect(!mayBeNamed("[credential]\n\thelper = oauthctl\n[user]\n\tname = Zoë\u{0}\n") && !mayBeNamed(""))
  }

  @Test("A copy is known whoever the account was, and no file of the user's own is one")
  func known() {
    #expect(Self.copies.contain("/state/oauthctl/authorities/gone.pem"))
    #expect(!Self.copies.contain("/mine.pem") && !Self.copies.contain("/state/oauthctl/authorities-mine/a.pem"))
    // Another shell wrote it, which had its state elsewhere, or has none here.
    #expect(Self.copies.contain("/elsewhere/oauthctl/authorities/work@h.pem"))
    #expect(GitAuthorityCopies(folder: nil).contain("/state/oauthctl/authorities/gone.pem"))
    let listed = GitConfiguration.authorities(in: "http.https://h:1.sslcainfo\n/a.pem\0http.sslcainfo\n/b.pem\0")
    #expect(listed.map { $0.url } == ["https://h:1"] && listed.map { $0.file } == ["/a.pem"])
  }

  @Test("A copy has the name of the account and of its server")
  func names() {
    #expect(Self.copies.path(of: Self.account("work", at: "h:1")) == "/state/oauthctl/authorities/work@h:1.pem")
    #expect(Self.copies.path(of: Self.account("work", at: "../../h")) == nil)
    #expect(GitAuthorityCopies(folder: nil).path(of: Self.account("work", at: "h")) == nil)
  }

  @Test(
    "A key is a stray that names a copy which is gone, an earlier version's, of another server or of no account",
    arguments: [
      ("work@h:1.pem", false), ("other@h:1.pem", false), ("gone@h:1.pem", true), ("work@h:1.pem.old", true),
      ("work.pem", true), ("other@i.pem", true), ("forgotten@h:1.pem", true),
    ])
  func strays(name: String, isStray: Bool) {
    let accounts = [("work", "h:1"), ("other", "h:1"), ("gone", "h:1"), ("other", "i")].map(Self.account)
    let found = Self.copies.strays(in: "http.https://h:1.sslcainfo\n/state/oauthctl/authorities/\(name)\0", accounts) {
      !$0.contains("gone")
    }
    #expect(found == (isStray ? ["https://h:1"] : []))
  }

  @Test("A file of the user's own is no stray, nor is one that a later value stands for")
  func noStrays() {
    let list = "http.https://h.sslcainfo\n/state/oauthctl/authorities/gone.pem\0http.https://h.sslcainfo\n/mine.pem\0"
    #expect(Self.copies.strays(in: list, []) { _ in false }.isEmpty)
  }

  @Test("Strays of servers where no account is are taken out")
  func steps() {
    let accounts = [Self.account("work", at: "h")]
    func step(_ urls: String...) -> String { GitAuthorityCopies.step(strays: urls, accounts).text }
    let removal = "oauthctl setup git --remove --host https://i"
    #expect(step("https://h") == "oauthctl setup git" && step("https://i") == removal)
    #expect(step("https://h", "https://i") == removal + " && oauthctl setup git")
  }

  @Test(
    "An authority counts for the issuer's own host, on any port",
    arguments: [("h", true), ("H:8443", true), ("api.h", false), ("hh", false), ("[::1]", false)])
  func ownHost(host: String, isFound: Bool) {
    var account = AccountSummary(
      account: "work", accountID: nil, state: .ok, reason: nil, issuer: "https://h:1", host: "h:1", hosts: [],
      clientID: "c", grant: "authorization_code", scope: [], expiresAt: nil, expiresInSeconds: nil, loginExpiresAt: nil,
      renewable: true, certificateAuthorityFile: "/ca.pem")
    #expect(PrivateAuthority.counts(for: host, of: account) == isFound)
    let login = LoginAuthority(digest: "d", host: "h:1")
    #expect(login.map { PrivateAuthority.counts(for: host, of: $0) } == isFound)
    let older = LoginAuthority(digest: "d", host: nil)
    #expect(
      older.map { PrivateAuthority.counts(for: host, of: $0) } == true, "an agent of before does not say the host")
    account.boundHost = "other"
    #expect(!PrivateAuthority.counts(for: host, of: account), "the login is of another issuer")
  }
}
