import AgentWire
import HelperFormats
import Testing

@testable import oauthctl

@Suite("git")
struct GitTests {
  private static let key = "credential.https://h.helper"
  private static let ours = "/opt/oauthctl git-credential"

  @Test(
    "Our two lines are put behind what is there, once",
    arguments: [
      ([], [["--add", key, ""], ["--add", key, ours]]), (["", ours], []), (["store", "", ours], []),
      (["store"], [["--add", key, ""], ["--add", key, ours]]),
      (["", "/old/oauthctl git-credential"], [["--unset-all", key], ["--add", key, ""], ["--add", key, ours]]),
      (
        ["", ours, "cache"],
        [
          ["--fixed-value", "--unset-all", key, ours], ["--unset-all", key, "^$"], ["--add", key, ""],
          ["--add", key, ours],
        ]
      ),
    ])
  func install(values: [String], commands: [[String]]) {
    #expect(GitSetup.install(key: Self.key, values: values, helper: Self.ours) == commands)
  }

  @Test(
    "Only our lines are taken away",
    arguments: [
      ([], []), (["store"], []), (["", ours], [["--unset-all", key]]), ([ours], [["--unset-all", key]]),
      (["store", "", ours], [["--fixed-value", "--unset-all", key, ours], ["--unset-all", key, "^$"]]),
      (["", "store", ours], [["--fixed-value", "--unset-all", key, ours]]),
      (["", "store", "", ours], [["--unset-all", key], ["--add", key, ""], ["--add", key, "store"]]),
      (["", "!oauthctl git-credential"], []), (["", "/x/git-credential-oauthctl"], [["--unset-all", key]]),
    ])
  func remove(values: [String], commands: [[String]]) {
    #expect(GitSetup.remove(key: Self.key, values: values) == commands)
  }

  @Test(
    "For a host without its port, an empty value of the user's own outlives ours",
    arguments: [[], [""], ["store", ""], ["", "store"]])
  func portless(values: [String]) {
    let added = GitSetup.installPortless(key: Self.key, values: values, helper: Self.ours).map { $0[2] }
    let left = GitSetup.remove(key: Self.key, values: values + added)
    #expect(left.first == ["--unset-all", Self.key] ? left.dropFirst().map { $0[2] } == values : values.last != "")
    #expect(!left.contains(["--unset-all", Self.key, "^$"]))
  }

  @Test("Helpers that git asks behind a host's own keep the host's from being written anew")
  func beforeOthers() {
    let url = "https://h", own = "\(Self.key)\n\0", general = "credential.helper\ncache\0"
    let path = "credential.https://h/team.helper\nstore\0", port = "credential.https://h:8443.helper\nstore\0"
    for behind in [general, path] { #expect(GitConfiguration.standsBeforeOthers(url, in: own + behind + own)) }
    #expect(GitConfiguration.standsBeforeOthers(url, in: own + own + general))
    #expect(!GitConfiguration.standsBeforeOthers(url, in: general + path + own + "user.name\nme\0" + port + own))
    #expect(!GitConfiguration.standsBeforeOthers(url, in: general))
    #expect(GitSetup.movesOthers(key: Self.key, values: ["", "store", "", Self.ours]))
    #expect(!GitSetup.movesOthers(key: Self.key, values: ["store", "", Self.ours]))
  }

  @Test(
    "The helper is an absolute path that the shell takes as one word",
    arguments: [
      ("/usr/bin/oauthctl", false, "/usr/bin/oauthctl git-credential"),
      ("/usr/bin/oauthctl", true, "/usr/bin/git-credential-oauthctl"),
      ("/a b/$x'/oauthctl", false, #"/a\ b/\$x\'/oauthctl git-credential"#),
    ])
  func helper(executable: String, hasLink: Bool, helper: String) {
    #expect(GitSetup.helper(executable: executable, hasLink: hasLink) == helper)
    #expect(GitSetup.isOurs(helper))
  }

  @Test(
    "Hosts become keys",
    arguments: [
      ("h", "credential.https://h.helper"), ("h:8443", "credential.https://h:8443.helper"),
      ("http://127.0.0.1:1/", "credential.http://127.0.0.1:1.helper"), ("https://h", "credential.https://h.helper"),
    ])
  func keys(host: String, key: String) { #expect(GitSetup.key(host: host) == key) }

  @Test(
    "What git is told about a failure",
    arguments: [
      (FailureKind.accountUnknown, false, "", false), (.loginRequired, false, "quit=1\n", true),
      (.vaultLocked, false, "quit=1\n", true), (.definitionChanged, false, "quit=1\n", true),
      (.unavailable, false, "", true), (.internal, false, "", true), (.accountUnknown, true, "quit=1\n", true),
      (.unavailable, true, "quit=1\n", true), (.notPermitted, true, "quit=1\n", true),
    ])
  func failures(kind: FailureKind, isSetUp: Bool, output: String, speaks: Bool) throws {
    let lookup = try #require(GitLookup(GitCredentialRequest(Array("protocol=https\nhost=h\n".utf8))))
    let context = CommandContext.scripted(Page()) { _ throws(CommandError) in
      throw .agent(AgentFailure(kind, "why", hint: nil), account: nil)
    }
    let reply = HelperRun.git(context, isSetUp: { $0 == "https://h" && isSetUp }).answer(
      to: lookup, validitySeconds: 300
    ).reply
    #expect(reply.output == output)
    #expect((reply.note != nil) == speaks)
    #expect(reply.note?.contains("\n") != true)
  }

  @Test("A path's key that stands before our helper is the person's own")
  func ownPathKey() {
    let (helper, path) = ("credential.https://a.example.helper", "credential.https://a.example.useHttpPath")
    let ours = "\(helper)\n\0\(helper)\n/usr/bin/git-credential-oauthctl\0"
    let own = "credential.https://a.example.usehttppath\ntrue\0"
    #expect(GitConfiguration.standsBehindOurs(path, helper, in: ours + own))
    #expect(!GitConfiguration.standsBehindOurs(path, helper, in: own + ours))
    #expect(!GitConfiguration.standsBehindOurs(path, helper, in: own))
    // The same host in capitals is another key to git.
    #expect(!GitConfiguration.standsBehindOurs(path, helper, in: ours + own.replacing("a.example", with: "A.example")))
  }

  @Test("The token git refused is named to the agent by its fingerprint")
  func rejected() throws {
    let digits = String(repeating: "a", count: 32)
    let input =
      "capability[]=state\ncapability[]=authtype\nprotocol=https\nhost=H:443\nwwwauth[]=Bearer\nstate[]=oauthctl:2:first:\(digits):work\n"
    let lookup = try #require(GitLookup(GitCredentialRequest(Array(input.utf8))))
    let context = CommandContext.scripted(Page()) { parameters throws(CommandError) in
      guard let request = parameters as? TokenGet, request.url == "https://h/", request.account == "work",
        request.rejected == RejectedToken(fingerprint: "sha256:" + digits)
      else { throw .silent(status: 1) }
      return TokenAnswer.example("new")
    }
    let reply = HelperRun.git(context).answer(to: lookup, validitySeconds: 300).reply
    #expect(reply.output.contains("credential=new\n") && !reply.output.contains("continue"))
  }

  /// What git at a server with several accounts is told of `failure`.
  private static func told(_ failure: AgentFailure) -> (failure: HelperFailure, step: NextStep?) {
    HelperRun.git(.scripted(Page()) { _ throws(CommandError) in throw .silent(status: 1) })
      .failure(.agent(failure, account: nil), at: "https://h:8443")
  }

  @Test("Where several accounts fit, git is told how to name one of them")
  func choice() throws {
    let failure = AgentFailure(.accountAmbiguous, "2 accounts fit", accounts: ["other", "work"])
    guard case (.needsPerson("2 accounts fit"), .run(let command)?) = Self.told(failure)
    else {
      Issue.record("git would go on")
      return
    }
    #expect(command.hasPrefix("git config --global credential.https://h:8443.username other   # or: "))
    #expect(command.contains("git config --global credential.https://h:8443.username work"))
    #expect(command.contains("https://other@h:8443/"))
  }

  @Test(
    "What git asks us for without an account is found, and what takes exactly that out",
    arguments: [
      (["https://h:8443"], ["https://h:8443", "https://h", "https://h:8443/team"], [], nil),
      (
        ["https://h"], ["https://h", "https://gone", "https://gone:1"], ["https://gone", "https://gone:1"],
        "oauthctl setup git --remove --host https://gone --host https://gone:1"
      ),
      (["https://h"], ["https://gone"], ["https://gone"], "oauthctl setup git --remove"),
      ([], ["https://h2"], ["https://h2"], "oauthctl setup git --remove"),
    ] as [([String], [String], [String], String?)])
  func unserved(hosts: [String], configured: [String], found: [String], removal: String?) {
    var account = PretendedAgent().account
    account.hosts = hosts
    let list = configured.map { "credential.\($0).helper\n/opt/bin/git-credential-oauthctl\0" }.joined()
    let helpers = GitConfiguration.helpers(in: list + "credential.helper\nstore\0")
    #expect(GitConfiguration.unserved(by: [account], in: helpers) == found)
    if let removal { #expect(GitConfiguration.removal(of: found, in: helpers) == .run(removal)) }
  }

  @Test("Where the user name is nobody's, git is told to change the address first, where one wins")
  func otherName() {
    let failure = AgentFailure(.accountUnknown, "no account answers to nobody", accounts: ["other", "work"])
    guard case (.needsPerson, .advice(let words)?) = Self.told(failure) else {
      Issue.record("git would go on")
      return
    }
    #expect(words.contains("the repository's address, like https://other@h:8443/…"))
    #expect(!words.contains("git config --global"))
  }

  @Test("A token that lives shorter than git may need it is replaced where that can be had, and given where not")
  func validity() throws {
    let lookup = try #require(GitLookup(GitCredentialRequest(Array("protocol=https\nhost=h\n".utf8))))
    for isBetterThere in [true, false] {
      let context = CommandContext.scripted(Page()) { parameters throws(CommandError) in
        guard let request = parameters as? TokenGet else { throw .silent(status: 1) }
        guard let least = request.minValiditySeconds else { return TokenAnswer.example("short") }
        guard least == 300, request.bestEffort == true, isBetterThere else { throw .silent(status: 1) }
        return TokenAnswer.example("long")
      }
      let reply = HelperRun.git(context, isSetUp: { _ in true }).answer(to: lookup, validitySeconds: 300).reply
      #expect(reply.output.contains(isBetterThere ? "password=long\n" : "password=short\n"))
    }
  }

  @Test("git's own list of helpers tells what setup named")
  func configuration() {
    let list = [
      "credential.helper\ncache", "credential.https://h.helper\n", "credential.https://h.helper\n\(Self.ours)",
      "credential.https://other.helper\n\(Self.ours)", "credential.helper\nstore --file x",
      "credential.https://z.helper",
    ].joined(separator: "\0")
    let helpers = GitConfiguration.helpers(in: list)
    #expect(helpers.count == 6 && helpers[0] == .init(url: "", command: "cache"))
    #expect(GitConfiguration.isSetUp("https://h", in: helpers))
    #expect(
      !GitConfiguration.isSetUp("https://other", in: helpers), "the ones before are not switched off: not by setup")
    #expect(!GitConfiguration.isSetUp("https://h:8443", in: helpers))
  }

  @Test(
    "A host with a port has a key without it, too, for libgit2",
    arguments: [
      ("h:8443", "credential.https://h.helper"), ("https://h:8443/team", "credential.https://h.helper"), ("h", nil),
      ("http://127.0.0.1:1/", nil), ("[::1]:8443", nil),
    ])
  func portless(host: String, key: String?) { #expect(GitSetup.portlessKey(host: host) == key) }

  @Test("Accounts of one host need a default, paths or another word of whom git is to be")
  func shared() {
    func account(
      _ name: String, _ state: AccountSummary.State = .ok, isDefault: Bool? = nil, paths: [String]? = nil
    ) -> AccountSummary {
      var account = PretendedAgent().account
      account.account = name
      account.state = state
      account.gitUsername = "oauth2"
      account.isDefault = isDefault
      account.paths = paths
      return account
    }
    func undecided(_ accounts: AccountSummary...) -> [SharedHosts] { SharedHosts.undecided(accounts, among: ["h"]) }
    #expect(undecided(account("b"), account("a")) == [SharedHosts(url: "https://h", accounts: ["a", "b"])])
    let plain = SharedHosts(url: "http://127.0.0.1:81", accounts: ["a", "b"])
    #expect(plain.advice.text.hasSuffix("into the address, like http://a@127.0.0.1:81/…"))
    #expect(undecided(account("b"), account("a", isDefault: true)).isEmpty)
    #expect(undecided(account("b"), account("a", paths: ["x"])).isEmpty)
    #expect(undecided(account("b"), account("a", isDefault: false)).count == 1)
    #expect(undecided(account("a"), account("b", .new)).isEmpty && undecided(account("a")).isEmpty)
    let idle = undecided(account("a"), account("b"), account("c", .new, isDefault: true))
    #expect(idle.map(\.idleDefault) == ["c"] && idle[0].advice.text.hasPrefix("log in to c, which is the default, or "))
    #expect(undecided(account("a"), account("b", .loginRequired)).count == 1, "git is refused there")
    #expect(undecided(account("a"), account("b", .configInvalid)).count == 1, "its last good definition holds")
    var unread = account("b", .configInvalid)
    unread.gitUsername = nil
    #expect(undecided(account("a"), unread).isEmpty)
  }

  @Test("After a login, git's question is told where it asks us for a host of the account, and names none itself")
  func sharedByLogin() {
    var accounts = ["a", "b", "c"].map { name in
      var account = PretendedAgent().account
      (account.account, account.hosts, account.gitUsername) = (name, ["https://h"], "oauth2")
      return account
    }
    accounts[2].hosts = ["https://other"]
    func told(_ account: String, _ command: String, at url: String = "https://h") -> [SharedHosts] {
      SharedHosts.undecided(accounts, for: account, in: [.init(url: url, command: command)])
    }
    let ours = "/opt/bin/git-credential-oauthctl"
    #expect(told("a", ours) == [SharedHosts(url: "https://h", accounts: ["a", "b"])])
    #expect(told("c", ours).isEmpty, "it is alone at its host")
    #expect(told("a", ours, at: "https://other").isEmpty, "git does not ask us")
    #expect(told("a", "/usr/bin/gh auth git-credential").isEmpty)
    #expect(told("a", "/opt/bin/oauthctl git-credential --account a").isEmpty)
  }

  @Test("Hosts of accounts whose tokens are bound to a key are left to git's other helpers")
  func boundAccounts() {
    func account(_ name: String, _ hosts: [String], dpop: Bool? = nil) -> AccountSummary {
      var account = PretendedAgent().account
      (account.account, account.hosts, account.dpop) = (name, hosts, dpop)
      return account
    }
    let found = GitHosts([account("a", ["h", "i"]), account("b", ["i", "j"], dpop: true), account("c", ["i", "k"])])
    #expect(found.hosts == ["h", "i", "k"] && found.bound == ["b"])
  }

  @Test(
    "Ours is known with and without an account",
    arguments: [
      ("/opt/oauthctl git-credential --account work", true), ("/opt/git-credential-oauthctl --account work", true),
      ("/opt/oauthctl git-credential --account", false), ("/opt/oauthctl get-token --account work", false),
    ])
  func known(value: String, isOurs: Bool) { #expect(GitSetup.isOurs(value) == isOurs) }
}
