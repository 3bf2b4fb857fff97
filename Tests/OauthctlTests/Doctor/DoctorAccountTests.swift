import AgentWire
import Testing

@testable import oauthctl

@Suite("Doctor: files, servers, logins")
struct DoctorAccountTests {
  static let cases: [Doctor.Case] = [
    (
      "a file that its owner may not read",
      { machine, _ in machine.files["/home/u/.config/oauthctl/accounts.d/work.toml"]?.mode = 0 },
      ["wrong configuration: chmod 600 /home/u/.config/oauthctl/accounts.d/work.toml"]
    ),
    (
      "a folder of accounts that nobody may write in",
      { machine, _ in machine.files["/home/u/.config/oauthctl/accounts.d"] = (.directory, 7, 0o500, "") },
      ["note configuration: chmod u+rwx /home/u/.config/oauthctl/accounts.d"]
    ),
    (
      "a file system of account files that is mounted read-only",
      { machine, _ in
        machine.files["/home/u/.config/oauthctl"] = (.directory, 7, 0o700, "")
        machine.readOnlyFolders = ["/home/u/.config/oauthctl"]
      },
      [
        "note configuration: make that file system writable again; "
          + "findmnt -T /home/u/.config/oauthctl shows which it is"
      ]
    ),
    (
      "a home that everybody writes to", { machine, _ in machine.files["/home/u"] = (.directory, 7, 0o777, "") },
      ["wrong configuration: chmod go-w /home/u"]
    ),
    (
      "a folder of account files that cannot be read is one fault",
      { machine, agent in
        machine.files["/home/u/.config/oauthctl/accounts.d"]?.mode = 0
        let folder = "/home/u/.config/oauthctl/accounts.d"
        agent.status.problems = [folder, folder + "/work.toml"].map {
          ConfigurationProblem(file: $0, line: nil, key: nil, reason: "cannot be opened")
        }
      }, ["wrong configuration: chmod 700 /home/u/.config/oauthctl/accounts.d"]
    ),
    (
      "a home that keeps the agent from the folder of account files is one fault",
      { machine, agent in
        machine.files["/home/u"] = (.directory, 7, 0o777, "")
        let problems = ["", "/work.toml"].map {
          ConfigurationProblem(
            file: "/home/u/.config/oauthctl/accounts.d\($0)", line: nil, key: nil,
            reason: "it is in /home/u, which may be written by others (mode 777)", hint: .run("chmod go-w /home/u"))
        }
        agent.status.problems = [problems[0]]
        agent.check.problems = [problems[1]]
      }, ["wrong configuration: chmod go-w /home/u"]
    ),
    (
      "a lender that is no more is told by the concern alone",
      { _, agent in
        (agent.account.state, agent.account.reason) = (.configInvalid, "it needs a token of company, and there is none")
        agent.check.concerns = [
          AccountConcern(
            check: "client", message: "it needs a token of company, and there is none", hint: "name one",
            isBlocking: true)
        ]
      }, ["wrong client: name one"]
    ),
    (
      "a lender that needs a login is named, not its borrower",
      { _, agent in
        (agent.account.state, agent.account.reason) = (.loginRequired, "it needs a token of company: login needed")
        (agent.account.hint, agent.account.hintKind) = ("oauthctl login company", "command")
      }, ["wrong login: oauthctl login company"]
    ),
    (
      "a login whose file is gone",
      { _, agent in
        agent.account.state = .configInvalid
        agent.account.fileGone = true
        agent.account.hint = "put it back"
      }, ["wrong login: put it back"]
    ),
    (
      "a file that others write",
      { machine, _ in machine.files["/home/u/.config/oauthctl/accounts.d/work.toml"]?.mode = 0o666 },
      ["wrong configuration: chmod go-w /home/u/.config/oauthctl/accounts.d/work.toml"]
    ),
    (
      "no authorities", { machine, _ in machine.files["/etc/ssl/certs/ca-certificates.crt"] = nil },
      ["wrong certificates: apt install ca-certificates"]
    ),
    (
      "no authorities, and an own one",
      { machine, _ in
        machine.files["/etc/ssl/certs/ca-certificates.crt"] = nil
        machine.files["/home/u/.config/oauthctl/config.toml"] = (.other, 7, 0o600, "ca_file = \"/ca.pem\"\n")
      }, ["note certificates: -"]
    ),
    (
      "a server that is away", { _, agent in agent.serverFailure = AgentFailure(.unavailable, "h: no route") },
      ["wrong server: check its address, and whether the server runs"]
    ),
    (
      "a server that says when",
      { _, agent in
        agent.serverFailure = AgentFailure(.unavailable, "h: busy", retryAfterMilliseconds: 2_000)
      }, ["wrong server: try again in 2 s"]
    ),
    (
      "another server than the login's is not asked",
      { _, agent in
        agent.account.state = .definitionChanged
        agent.serverFailure = AgentFailure(.unavailable, "h: no route")
      }, ["wrong login: oauthctl account accept work"]
    ),
    (
      "a login of which it is not known whether it lives",
      { _, agent in
        agent.account.state = .retrying
        agent.account.hint = "if it stays so: oauthctl login work"
      }, ["wrong login: if it stays so: oauthctl login work"]
    ),
    (
      "a missing secret", { _, agent in agent.check.missingSecrets = ["client_secret"] },
      ["wrong secret: oauthctl secret set work client_secret"]
    ),
    (
      "a missing key is one fault",
      { _, agent in
        (agent.account.state, agent.account.hint) = (.clientRejected, "oauthctl key create work")
        agent.check.missingSecrets = ["private_key"]
      }, ["wrong login: oauthctl key create work"]
    ),
    (
      "a lender that is gone is one fault",
      { _, agent in
        agent.account.hint = "it needs a token of company, and there is no such account; name one"
        agent.check.concerns = [
          AccountConcern(
            check: "client", message: "it needs a token of company, and there is no such account", hint: "name one",
            isBlocking: true)
        ]
      }, ["wrong client: name one"]
    ),
    ("a password that nobody keeps", { _, agent in agent.check.missingSecrets = ["password"] }, []),
    (
      "a dead login", { _, agent in agent.account.state = .loginRequired }, ["wrong login: oauthctl login work"]
    ),
    (
      "a server that no browser can log in at",
      { _, agent in
        agent.check.concerns = [
          AccountConcern(check: "server", message: "m", hint: "oauthctl login work --device", isBlocking: true)
        ]
      }, ["wrong server: oauthctl login work --device"]
    ),
    (
      "a scope that the server does not list is no matter while the login works",
      { _, agent in agent.check.concerns = [AccountConcern(check: "scope", message: "m", hint: "check scope")] }, []
    ),
    (
      "and is told where there is no login",
      { _, agent in
        agent.account.state = .loginRequired
        agent.check.concerns = [AccountConcern(check: "scope", message: "m", hint: "check scope")]
      }, ["wrong login: oauthctl login work", "note scope: check scope"]
    ),
    (
      "a login that ends with its token", { _, agent in agent.account.renewable = false },
      ["note login: oauthctl login work"]
    ),
    (
      "a taken port", { machine, _ in machine.takenPorts = [8914] },
      ["wrong redirect: ss -ltnp 'sport = :8914'"]
    ),
  ]

  @Test("What can be wrong is found alone, with what to do", arguments: cases.indices)
  func trouble(index: Int) {
    #expect(Doctor.troubles(Self.cases[index]) == Self.cases[index].2, "\(Self.cases[index].0)")
  }

  @Test("The fault of a folder tells how many accounts it concerns, after the agent has looked at the files")
  func folder() throws {
    var machine = PretendedMachine()
    machine.files["/home/u/.config/oauthctl"]?.mode = 0o777
    machine.files["/home/u/.config/oauthctl/accounts.d/home.toml"] =
      machine.files["/home/u/.config/oauthctl/accounts.d/work.toml"]
    let found = try #require(Doctor.findings(machine).first { $0.check == "configuration" })
    #expect(found.message == "~/.config/oauthctl may be written by others, which concerns 2 accounts")
  }

  @Test("What a server says is not told with the account's name twice")
  func accountOnce() throws {
    var agent = PretendedAgent()
    agent.serverFailure = AgentFailure(.unavailable, "work: No metadata.")
    let found = try #require(Doctor.findings(.init(), agent).first { $0.check == "server" })
    #expect(found.message == "No metadata." && found.account == "work")
  }

  @Test("A shell's proxy is told without its password")
  func proxy() throws {
    let found = Doctor.findings(.init(), .init(), ["HTTPS_PROXY": "http://me:hidden@proxy:3128"])
    let proxy = try #require(found.first { $0.check == "proxy" })
    #expect(proxy.level == .note && proxy.message.contains("http://proxy:3128") && !proxy.message.contains("hidden"))
  }

  @Test(
    "The port of a redirect address",
    arguments: [
      ("redirect_uri = \"http://127.0.0.1:8914/cb\"", 8914), ("redirect_uri='http://[::1]:80/'", 80),
      ("redirect_uri = \"http://127.0.0.1/cb\"", nil), ("redirect_uri = \"http://[::1]/\"", nil),
      ("redirect_uri = \"https://h:1/\"", nil), ("# redirect_uri = \"http://127.0.0.1:1/\"", nil), ("", nil),
    ] as [(String, Int?)])
  func redirectPort(line: String, port: Int?) { #expect(AccountsCheck.redirectPort("a = 1\n\(line)\n") == port) }
}
